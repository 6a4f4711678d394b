import assert from 'node:assert/strict'
import { keccak256, stringToHex } from 'viem/utils'
import type { ServiceProcess } from '../support/serviceProcess.js'
import type { Replay, ReplayNetwork } from './replayServer.js'

interface Stage {
  readonly stage: string
  readonly state: string
  readonly block_number?: number
  readonly block_timestamp?: number
  readonly tx_hash?: string
  readonly l1_info_tree_index?: number
  readonly global_exit_root?: string
}

interface Status {
  readonly deposit_count: number
  readonly ready_for_claim: boolean
  readonly claim_tx_hash: string | null
  readonly l1_info_tree_index: number | null
  readonly claim_matches?: false
  readonly current_stage: string
  readonly waits_for: { readonly event: string } | null
  readonly stages: readonly Stage[]
}

interface Bridge extends Omit<Status, 'current_stage' | 'waits_for' | 'stages'> {
  readonly tx_hash: string
  readonly origin_network: number
  readonly destination_network: number
  readonly block_number: number
  readonly block_timestamp: number
  readonly global_index: string
}

interface Claim {
  readonly tx_hash: string
  readonly origin_network: number
  readonly deposit_count: number
  readonly block_number: number
  readonly block_timestamp: number
}

/** What the recording says at the present heads, as far as it is compared. */
interface Expected {
  readonly bridges: readonly {
    readonly sourceNetwork: number
    readonly depositCount: number
    readonly firstL1InfoTreeIndex: number | null
    readonly firstInjectedL1InfoTreeIndex: number | null
    /** null before the destination has a contract that could be asked. */
    readonly claimed: boolean | null
    readonly claimable: boolean
  }[]
  readonly l1InfoLeaves: readonly {
    readonly index: number
    readonly blockNumber: number
    readonly timestamp: number
    readonly globalExitRoot: string
  }[]
}

/** InsertGlobalExitRoot (v9) and UpdateHashChainValue (v10 and later): a root comes into the manager. Legacy managers have no event. */
const INJECTIONS = [
  keccak256(stringToHex('InsertGlobalExitRoot(bytes32)')),
  keccak256(stringToHex('UpdateHashChainValue(bytes32,bytes32)')),
]

/** Block of the newest injection of a root on the recorded chain as it is now; undefined where there is no event. */
async function findInjection(
  { rpc, globalExitRootManager: address }: ReplayNetwork,
  globalExitRoot: string,
): Promise<number | undefined> {
  const filter = { address, topics: [INJECTIONS, [globalExitRoot]], fromBlock: '0x0', toBlock: 'latest' }
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(rpc, { method: 'POST', body: JSON.stringify(call), headers })
  const { result } = (await answer.json()) as { readonly result: readonly { blockNumber: string }[] }
  const newest = result.at(-1)
  return newest && Number(newest.blockNumber)
}

/**
 * Asks for the status of each bridge, and compares it with what the lists and the index of the same service say and with the recording.
 * @returns number of bridges.
 */
export async function compareStatuses(
  service: ServiceProcess,
  recording: Replay['info'],
  step: string,
): Promise<number> {
  const expected = (await (await fetch(`${recording.control}/expected`)).json()) as Expected
  const networks = (await service.read<{ supported_networks: number[] }>('/bridge/v1/')).supported_networks
  let compared = 0
  for (const networkId of networks) {
    const { bridges } = await service.read<{ bridges: readonly Bridge[] }>(
      `/bridge/v1/bridges?network_id=${networkId}&page_size=1000`,
    )
    for (const bridge of bridges) {
      await compareStatus(
        service,
        { ...expected, chains: recording.networks },
        bridge,
        networks,
        `${step}: ${networkId}:${bridge.deposit_count}`,
      )
      compared++
    }
  }
  assert.equal(compared, expected.bridges.length, step)
  return compared
}

async function compareStatus(
  service: ServiceProcess,
  expected: Expected & { readonly chains: Replay['info']['networks'] },
  bridge: Bridge,
  networks: readonly number[],
  told: string,
): Promise<void> {
  const { origin_network, destination_network, deposit_count } = bridge
  const one = `network_id=${origin_network}&deposit_count=${deposit_count}`
  const { statuses } = await service.read<{ statuses: readonly Status[] }>(`/bridge/v1/bridge-status?${one}`)
  const status = statuses[0]!
  const stageOf = (name: string) => status.stages.find(({ stage }) => stage === name)
  for (const name of ['ready_for_claim', 'claim_tx_hash', 'l1_info_tree_index', 'claim_matches'] as const)
    assert.equal(status[name], bridge[name], `${told} ${name}`)
  assert.equal(status.waits_for?.event === 'claim', bridge.ready_for_claim, told)
  const { block_number, block_timestamp, tx_hash } = stageOf('bridged')!
  assert.deepEqual(
    [block_number, block_timestamp, tx_hash],
    [bridge.block_number, bridge.block_timestamp, bridge.tx_hash],
    told,
  )

  const known = expected.bridges.find(
    (each) => each.sourceNetwork === origin_network && each.depositCount === deposit_count,
  )!
  const covering = stageOf('in_l1_info_tree')!
  assert.equal(covering.l1_info_tree_index ?? null, known.firstL1InfoTreeIndex, told)
  const leafOf = (index: number) => expected.l1InfoLeaves.find((leaf) => leaf.index === index)!
  if (known.firstL1InfoTreeIndex !== null) {
    const leaf = leafOf(known.firstL1InfoTreeIndex)
    const place = [leaf.blockNumber, leaf.timestamp, leaf.globalExitRoot]
    assert.deepEqual(
      [covering.block_number, covering.block_timestamp, covering.global_exit_root],
      place,
      told,
    )
  }
  assert.equal(stageOf('settled')?.state, origin_network === 0 ? undefined : covering.state, told)
  const index = await service.get(`/bridge/v1/l1-info-tree-index?${one}`)
  assert.equal(index.status === 200, status.l1_info_tree_index !== null, told)
  if (!networks.includes(destination_network)) {
    assert.equal(stageOf('claimed')!.state, 'unknown', told)
    return
  }
  assert.deepEqual(
    [known.claimed ?? false, known.claimable],
    [['done', 'blocked'].includes(stageOf('claimed')!.state), status.ready_for_claim],
    told,
  )
  if (destination_network !== 0) {
    const injected = stageOf('injected')!
    assert.equal(injected.state === 'done', known.firstInjectedL1InfoTreeIndex !== null, told)
    if (injected.state === 'done') {
      assert.equal(injected.l1_info_tree_index, known.firstInjectedL1InfoTreeIndex, told)
      const { globalExitRoot } = leafOf(known.firstInjectedL1InfoTreeIndex!)
      const block = await findInjection(expected.chains[destination_network]!, globalExitRoot)
      if (block !== undefined) assert.equal(injected.block_number, block, told)
    }
  }
  if (bridge.claim_tx_hash === null) return
  const { claims } = await service.read<{ claims: readonly Claim[] }>(
    `/bridge/v1/claims?network_id=${destination_network}&global_index=${bridge.global_index}`,
  )
  const claim = claims.find(
    (each) => each.origin_network === origin_network && each.deposit_count === deposit_count,
  )!
  const claimed = stageOf('claimed')!
  assert.deepEqual(
    [claimed.block_number, claimed.block_timestamp, claimed.tx_hash],
    [claim.block_number, claim.block_timestamp, claim.tx_hash],
    told,
  )
}
