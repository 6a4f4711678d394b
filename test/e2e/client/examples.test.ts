import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Address } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getAddress } from 'viem/utils'
import { bridgeAsset, inject, settle, updateGlobalExitRoot } from '../../../src/devnet/actions.js'
import { bridgeAbi } from '../../../src/devnet/contractAbis.js'
import type { Devnet } from '../../../src/devnet/devnet.js'
import { readLedger } from '../../../src/devnet/ledger.js'
import { playScenario } from '../../../src/devnet/scenario.js'
import { BDS, inheritedEnvironment } from '../../support/serviceProcess.js'
import { type Cleaner, tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'
import { type DevnetService, serviceOn } from '../devnet/devnetService.js'
import { testDevnet } from '../devnet/testDevnet.js'

/** Of the package under test: there `bridge-data-service/client` is the built entry. */
const examples = join(dirname(BDS), '../../../docs/examples')

/** A development account of anvil that the scenario leaves alone: its fifth. */
const BOT_KEY = '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a'

/** How long the claim bot works beside traffic: `BDS_TEST_MINUTES=10`. */
const MINUTES = Number(process.env.BDS_TEST_MINUTES ?? 0)
/** Rounds of traffic at least. */
const ROUNDS = 3

interface Example {
  /** Rejects with what it wrote when its exit code is not 0. */
  readonly output: Promise<string>
  kill(): void
}

function runExample(
  context: Cleaner,
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Example {
  const child = spawn(process.execPath, [join(examples, name), ...args], {
    env: { ...inheritedEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
  const output = new Promise<string>((resolve, reject) => {
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${name}: ${code}\n${text}`)),
    )
  })
  output.catch(() => undefined)
  context.after(() => void child.kill('SIGKILL'))
  return { output, kill: () => void child.kill('SIGKILL') }
}

async function world(context: Cleaner): Promise<{ devnet: Devnet; service: DevnetService }> {
  const devnet = await testDevnet(context)
  await playScenario(devnet)
  const service = await serviceOn(context, devnet)
  await service.inStepAndFinal()
  return { devnet, service }
}

const environmentOfBot = ({ chains }: Devnet, service: DevnetService): Readonly<Record<string, string>> => ({
  API: service.process.url,
  PRIVATE_KEY: BOT_KEY,
  ...Object.fromEntries(chains.map(({ networkId, rpcUrl }) => [`RPC_${networkId}`, rpcUrl])),
})

test('each example has at most 40 lines', () => {
  const names = readdirSync(examples)
  assert.deepEqual(names.toSorted(), ['claimBot.mjs', 'exportCsv.mjs', 'waitingFor.mjs'])
  for (const name of names)
    assert.ok(readFileSync(join(examples, name), 'utf8').trimEnd().split('\n').length <= 40, name)
})

test('the claim bot tries a claim that fails again, though no event tells it to', async (t) => {
  const { devnet, service } = await world(t)
  const { chains } = devnet
  const bot = privateKeyToAccount(BOT_KEY).address
  const poor = chains[1]!
  const setBalance = (value: bigint) => poor.client.setBalance({ address: bot, value })
  await setBalance(0n)
  const { output } = runExample(t, 'claimBot.mjs', [], environmentOfBot(devnet, service))
  const failed = output.then(() => assert.fail('the bot ended'))
  const all = await service.allBridges()
  const nameOf = ({ origin_network, deposit_count }: (typeof all)[number]) =>
    `${origin_network}:${deposit_count}`
  const ready = new Set(all.filter(({ ready_for_claim }) => ready_for_claim).map(nameOf))
  /** Destinations of what was ready and has no claim yet. */
  const open = async (): Promise<number[]> =>
    (await service.allBridges())
      .filter((bridge) => ready.has(nameOf(bridge)) && bridge.claim_tx_hash === null)
      .map(({ destination_network }) => destination_network)
  assert.ok(new Set(await open()).size > 1 && (await open()).includes(poor.networkId))
  const become = (isGood: (networks: number[]) => boolean, what: string) =>
    Promise.race([failed, until(open, isGood, what, 120_000)])
  // The claims on the poor network come between the others, and the last of those is made behind a failure.
  await become(
    (networks) => new Set(networks).size === 1 && networks[0] === poor.networkId,
    'only those left',
  )
  await setBalance(10n ** 20n)
  await become((networks) => networks.length === 0, 'these are claimed, too')
  const claims = (await claimsOn(devnet)).flat()
  assert.equal(
    claims.length,
    new Set(claims.map(({ networkId, globalIndex }) => `${networkId} ${globalIndex}`)).size,
  )
})

test('the claim bot claims all that can be claimed, again after a reorg took a claim back, and sends nothing in vain', async (t) => {
  const { devnet, service } = await world(t)
  const { chains, accounts } = devnet
  const [l1, ...l2s] = chains
  const bot = privateKeyToAccount(BOT_KEY).address
  const claimedBefore = (await claimsOn(devnet)).flat().length
  const { output } = runExample(t, 'claimBot.mjs', [], environmentOfBot(devnet, service))
  const failed = output.then(() => assert.fail('the bot ended'))

  const publish = async (): Promise<void> => {
    await updateGlobalExitRoot(l1, accounts.alice)
    for (const l2 of l2s) await settle(devnet, l2)
    for (const l2 of l2s) await inject(devnet, l2)
    await service.inStepAndFinal()
  }
  const allClaimed = (what: string): Promise<unknown> =>
    Promise.race([
      failed,
      until(
        () => service.allBridges(),
        (bridges) => bridges.every(({ claim_tx_hash }) => claim_tx_hash !== null),
        what,
        240_000,
      ),
    ])

  let deposits = 0
  let round = 0
  const transfer = async (from: number, to: number): Promise<void> => {
    deposits++
    await bridgeAsset(chains[from]!, {
      from: accounts.bob,
      destinationNetwork: to,
      destinationAddress: accounts.carol,
      amount: BigInt(1_000 + round),
      forced: true,
    })
  }
  /** The newest blocks of an L2, down to this one, are replaced by empty ones. */
  const dropBlocks = async ({ client }: (typeof l2s)[number], from: bigint): Promise<void> => {
    const depth = Number((await client.getBlockNumber()) - from) + 1
    // viem does not know the name of anvil's method.
    await client.request<{ Method: string; Parameters: unknown[]; ReturnType: null }>({
      method: 'anvil_reorg',
      params: [depth, []],
    })
  }
  const endsAtMs = Date.now() + 60_000 * MINUTES
  do {
    // A deposit that no settlement has seen is gone again, and its count goes to another one. Nothing of the bot's is on its way meanwhile.
    if (round % 2 === 1) {
      await allClaimed(`claims before round ${round}`)
      const source = l2s[round % l2s.length]!
      const above = await source.client.getBlockNumber()
      await transfer(source.networkId, 0)
      deposits--
      await dropBlocks(source, above + 1n)
    }
    for (const [from, to] of [
      [0, 1],
      [0, 2],
      [1, 0],
      [2, 1],
    ] as const)
      await transfer(from, to)
    await publish()
    round++
    if (round < ROUNDS) continue
    await allClaimed(`claims of the traffic, round ${round}`)
    // The newest block of an L2 that has a claim, and all behind it, are replaced: the claims in them are made again.
    const l2 = l2s[round % l2s.length]!
    const claims = (await claimsOn(devnet))[l2.networkId]!
    await dropBlocks(l2, claims.at(-1)!.blockNumber)
    assert.ok((await claimsOn(devnet))[l2.networkId]!.length < claims.length)
    await l2.client.mine({ blocks: 1 })
    await publish()
    await allClaimed(`claims after the reorg, round ${round}`)
  } while (round < ROUNDS || Date.now() < endsAtMs)
  t.diagnostic(`${round} rounds, ${deposits} deposits`)

  const claimsAfter = await claimsOn(devnet)
  const ledger = await readLedger(devnet)
  const indexes = claimsAfter.flat().map(({ globalIndex, networkId }) => `${networkId} ${globalIndex}`)
  assert.equal(new Set(indexes).size, indexes.length, 'a bridge was claimed twice')
  assert.equal(indexes.length, ledger.deposits.flat().length)
  assert.ok(
    indexes.length >= claimedBefore + deposits && deposits >= 4 * ROUNDS,
    `${indexes.length} claims, ${deposits} deposits`,
  )
  // Each transaction of the bot is one claim: none was refused by the contract.
  for (const { client, networkId } of chains) {
    const sent = await client.getTransactionCount({ address: bot })
    assert.equal(claimsAfter[networkId]!.filter(({ sender }) => sender === bot).length, sent)
  }
})

interface ClaimOnChain {
  readonly networkId: number
  readonly globalIndex: bigint
  readonly blockNumber: bigint
  readonly sender: Address
}

/** The claims that the contracts tell of, network by network, oldest first. */
async function claimsOn({ chains }: Devnet): Promise<ClaimOnChain[][]> {
  return Promise.all(
    chains.map(async ({ client, contracts, networkId }) => {
      const events = await client.getContractEvents({
        address: contracts.bridge,
        abi: bridgeAbi,
        eventName: 'ClaimEvent',
        fromBlock: 0n,
        strict: true,
      })
      return Promise.all(
        events.map(async ({ args, transactionHash, blockNumber }) => {
          const { from } = await client.getTransaction({ hash: transactionHash })
          return { networkId, globalIndex: args.globalIndex, blockNumber, sender: getAddress(from) }
        }),
      )
    }),
  )
}

test('the export has a line for each bridge of the network, oldest first', async (t) => {
  const { service } = await world(t)
  const file = join(tempFolder(t), 'bridges.csv')
  await runExample(t, 'exportCsv.mjs', ['0', file], { API: service.process.url }).output
  const bridges = (await service.allBridges()).filter(({ origin_network }) => origin_network === 0)
  assert.ok(bridges.length > 5)
  const [head, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  assert.match(head!, /^depositCount,blockTimestamp,txHash,.*,amount,globalIndex,claimTxHash$/)
  assert.deepEqual(
    lines.map((line) => line.split(',')).map((cells) => [cells[0], cells[2], cells[8], cells[9], cells[10]]),
    bridges.map(({ deposit_count, tx_hash, amount, claim_tx_hash }) => [
      String(deposit_count),
      tx_hash,
      amount,
      // The flag of the L1, and the deposit count.
      String(2n ** 64n + BigInt(deposit_count)),
      claim_tx_hash ?? '',
    ]),
  )
})

test('what waits for an address is shown with its state', async (t) => {
  const { devnet, service } = await world(t)
  const { carol } = devnet.accounts
  const { output } = runExample(t, 'waitingFor.mjs', [carol], { API: service.process.url })
  const waiting = (await service.allBridges()).filter(
    ({ destination_address, claim_tx_hash }) => destination_address === carol && claim_tx_hash === null,
  )
  const ready = waiting.filter(({ ready_for_claim }) => ready_for_claim)
  assert.ok(waiting.length > ready.length && ready.length > 0, `${ready.length} of ${waiting.length}`)
  const lines = (await output).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    waiting.map(({ origin_network, deposit_count }) => `${origin_network}:${deposit_count}`),
  )
  assert.equal(lines.filter((line) => line.endsWith('can be claimed')).length, ready.length)
})
