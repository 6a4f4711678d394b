import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Address,
  createTestClient,
  type Hex,
  http,
  publicActions,
  type TransactionReceipt,
  WaitForTransactionReceiptTimeoutError,
  walletActions,
} from 'viem'
import { monotonicMs } from '../telemetry/clocks.js'
import { DevnetError } from './devnetError.js'

/** A viem client with all actions for an anvil node. */
export type DevnetClient = ReturnType<typeof createDevnetClient>

/** Contract addresses of one network, in EIP-55 spelling. */
export interface DevnetContracts {
  readonly bridge: Address
  readonly globalExitRootManager: Address
  /** L1 only. */
  readonly rollupManager?: Address
  /** A test ERC-20 that is native to this network. */
  readonly token: Address
  readonly bridgeCaller: Address
  readonly messageReceiver: Address
}

export interface DevnetChain {
  readonly networkId: number
  readonly chainId: number
  readonly rpcUrl: string
  readonly client: DevnetClient
  readonly contracts: DevnetContracts
}

/** Anvil's development accounts by role. The node signs for them, so no keys are needed. */
export interface DevnetAccounts {
  /** Deploys, settles, injects, and is the bridges' emergency administrator. */
  readonly operator: Address
  readonly alice: Address
  readonly bob: Address
  readonly carol: Address
}

export interface SentTransaction {
  readonly from: Address
  /** Absent for a deployment. */
  readonly to?: Address
  readonly data?: Hex
  readonly value?: bigint
}

// A local node answers within a millisecond; viem's default of four seconds is for public endpoints.
const pollingInterval = 20

export function createDevnetClient(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', transport: http(rpcUrl), pollingInterval, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

/** @throws DevnetError when the node offers too few unlocked accounts. */
export async function getDevnetAccounts(client: DevnetClient): Promise<DevnetAccounts> {
  const [operator, alice, bob, carol] = await client.getAddresses()
  if (operator === undefined || alice === undefined || bob === undefined || carol === undefined)
    throw new DevnetError('the chain offers fewer than 4 unlocked accounts')
  return { operator, alice, bob, carol }
}

/**
 * Takes steps whose transactions all get into one block of the chain, in any order. No other transaction may be sent to it meanwhile.
 * @param steps each sends exactly one transaction.
 * @throws what a step throws, and DevnetError when a transaction went into another block.
 */
export async function inOneBlock(
  { client }: Pick<DevnetChain, 'client'>,
  steps: readonly (() => Promise<TransactionReceipt>)[],
): Promise<TransactionReceipt[]> {
  await client.setAutomine(false)
  try {
    const sent: Promise<TransactionReceipt>[] = []
    for (const step of steps) {
      sent.push(step())
      // One after the other, since two of one sender must not get the same nonce.
      await Promise.race([Promise.all(sent), transactionsWait(client, sent.length)])
    }
    await client.mine({ blocks: 1 })
    const receipts = await Promise.all(sent)
    if (receipts.some(({ blockHash }) => blockHash !== receipts[0]!.blockHash))
      throw new DevnetError('the transactions are in several blocks')
    return receipts
  } finally {
    await client.setAutomine(true)
  }
}

/** Resolves when so many transactions wait for the next block. Gives up after a while, when what they wait for is something else. */
async function transactionsWait(client: DevnetClient, count: number): Promise<void> {
  const deadline = monotonicMs() + OVERDUE_MS
  while ((await client.getTxpoolStatus()).pending < count && monotonicMs() < deadline)
    await sleep(pollingInterval)
}

/** A node mines a transaction within milliseconds of its arrival, a busy one within seconds. */
const OVERDUE_MS = 5_000

/**
 * Sends a transaction from one of the node's accounts and waits until it is in a block.
 * @throws DevnetError when it reverted in the block; viem's error, with the reason, when the node refuses it.
 */
export async function send(
  client: DevnetClient,
  { from, to, data, value }: SentTransaction,
): Promise<TransactionReceipt> {
  const hash = await client.sendTransaction({
    account: from,
    chain: null,
    ...(to === undefined ? {} : { to }),
    ...(data === undefined ? {} : { data }),
    ...(value === undefined ? {} : { value }),
  })
  const receipt = await client
    .waitForTransactionReceipt({ hash, timeout: OVERDUE_MS })
    .catch(async (error: unknown) => {
      if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error
      // Anvil's miner can miss a transaction that arrives while it mines (foundry issue 10122); the next block takes it.
      await client.mine({ blocks: 1 })
      return client.waitForTransactionReceipt({ hash })
    })
  if (receipt.status !== 'success') throw new DevnetError(`transaction ${hash} reverted`)
  return receipt
}
