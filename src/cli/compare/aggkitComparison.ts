import { decodeGlobalIndex } from '../../protocol/globalIndex.js'
import { isUint256Text } from '../../protocol/uint256.js'
import { type AskedService, NoAnswerError, type Told } from './askedService.js'
import type { ToldProof } from './chainWitness.js'
import {
  compareJudgedProofs,
  factsBy,
  howProofsAreJudged,
  type JudgedProof,
  judgeDepositFields,
} from './comparedProofs.js'
import { type ComparedList, compareLists, plain, type Row, rowsIn } from './comparedRows.js'
import { both, type Comparison, type Pair, spread, type Verdict, verdictOf } from './comparison.js'

/** Compares two services that speak the API of aggkit. */

const PAGE_SIZE = 200

const depositFact = {
  block_num: 'blockNumber',
  block_pos: 'logIndex',
  tx_hash: 'transactionHash',
  global_index: 'globalIndex',
  leaf_type: 'leafType',
  origin_network: 'originNetwork',
  origin_address: 'originAddress',
  destination_network: 'destinationNetwork',
  destination_address: 'destinationAddress',
  amount: 'amount',
  metadata: 'metadata',
  deposit_count: 'depositCount',
  bridge_hash: 'leafHash',
} as const

/** The receiver of a transaction is not stored here. Who claimed is told by the oldest release line only, and otherwise than a trace. */
const PASSED_OVER = new Set(['to_address', 'from_address'])

export async function compareAggkit(comparison: Comparison): Promise<void> {
  const { networkIds, findings } = comparison
  const steps = networkIds.length * 4
  for (const [at, networkId] of networkIds.entries()) {
    const share = (step: number) => (part: number) => (4 * at + step + part) / steps
    if (!(await isServed(comparison, networkId))) {
      findings.notes.add(`the other service does not serve network ${networkId}: nothing of it was compared`)
      continue
    }
    const counts = new Set<number>()
    await compareLists(comparison, bridgesOf(comparison, networkId, counts), share(0))
    await compareLists(comparison, claimsOf(comparison, networkId), share(1))
    await compareLists(comparison, mappingsOf(comparison, networkId), share(2))
    await compareProofs(
      comparison,
      networkId,
      [...counts].sort((one, other) => one - other),
      share(3),
    )
  }
}

/** One process of aggkit serves the L1 and one other network. @throws NoAnswerError when ours does not serve it. */
async function isServed({ services }: Comparison, networkId: number): Promise<boolean> {
  const path = `/bridge/v1/bridges?network_id=${networkId}&page_size=1`
  const { ours, theirs } = await both(services, (service) => service.ask(path))
  if (ours.status !== 200) throw refused(services.ours, ours)
  if (theirs.status === 400 && /network/.test(textOf(theirs))) return false
  if (theirs.status !== 200) throw refused(services.theirs, theirs)
  return true
}

function textOf({ json }: Told): string {
  const { error } = (typeof json === 'object' && json !== null ? json : {}) as { readonly error?: unknown }
  return typeof error === 'string' ? error : JSON.stringify(json)
}

function refused(service: AskedService, told: Told): NoAnswerError {
  return new NoAnswerError(`${service.name} answered ${told.status}: ${textOf(told).slice(0, 200)}`)
}

/** What lists of aggkit have in common. */
function listOf(name: string, path: string, networkId: number) {
  const ask = async (service: AskedService, query: string) => {
    const told = await service.ask(`/bridge/v1/${path}?network_id=${networkId}${query}`)
    if (told.status !== 200) throw refused(service, told)
    return { rows: rowsIn(service, told.json, name), total: Number((told.json as Row).count) }
  }
  return {
    name: name.replace('_', ' '),
    title: `${name.replace('_', ' ')} of network ${networkId}`,
    pageSize: PAGE_SIZE,
    passedOver: PASSED_OVER,
    page: (service: AskedService, number: number) =>
      ask(service, `&page_size=${PAGE_SIZE}&page_number=${number + 1}`),
    one: async (service: AskedService, query: string, is: (row: Row) => boolean) =>
      (await ask(service, query)).rows.find(is),
  }
}

function bridgesOf(comparison: Comparison, networkId: number, counts: Set<number>): ComparedList {
  const { one, ...list } = listOf('bridges', 'bridges', networkId)
  const { witness } = comparison
  const find = (row: Row) => witness.deposit(networkId, plain(row.tx_hash), Number(row.deposit_count))
  return {
    ...list,
    key: (row) => plain(row.deposit_count),
    titleOf: (row) => `bridge ${plain(row.deposit_count)} of network ${networkId}`,
    place: (row) => Number(row.deposit_count),
    again: (service, row) =>
      one(
        service,
        `&deposit_count=${plain(row.deposit_count)}`,
        (found) => plain(found.deposit_count) === plain(row.deposit_count),
      ),
    async judgeMissing(row, holder) {
      const found = await find(row)
      const holds = found === undefined ? undefined : found !== null
      return verdictOf(
        {
          ours: holder === 'ours' ? holds : not(holds),
          theirs: holder === 'theirs' ? holds : not(holds),
        },
        found === undefined ? 'no endpoint tells its transaction' : 'the receipt of its transaction',
      )
    },
    judgeFields: (rows, fields) =>
      judgeDepositFields(rows, fields, depositFact, async (row) => (await find(row)) ?? undefined),
    onRow: ({ ours }) => counts.add(Number(ours.deposit_count)),
  }
}

const not = (holds: boolean | undefined): boolean | undefined => (holds === undefined ? undefined : !holds)

function claimsOf({ witness }: Comparison, networkId: number): ComparedList {
  const { one, ...list } = listOf('claims', 'claims', networkId)
  return {
    ...list,
    key: (row) => plain(row.global_index),
    titleOf: (row) => `claim of ${plain(row.global_index)} on network ${networkId}`,
    place: (row) => Number(row.block_num),
    again: (service, row) =>
      one(
        service,
        `&global_index=${plain(row.global_index)}`,
        (found) => plain(found.global_index) === plain(row.global_index),
      ),
    async judgeMissing(row, holder) {
      const text = plain(row.global_index)
      if (!isUint256Text(text)) return { chain: 'unknown', because: 'its global index is no number' }
      const { sourceNetwork, depositCount } = decodeGlobalIndex(BigInt(text))
      const isClaimed = await witness.isClaimed(networkId, sourceNetwork, depositCount)
      return verdictOf(
        {
          ours: holder === 'ours' ? isClaimed : not(isClaimed),
          theirs: holder === 'theirs' ? isClaimed : not(isClaimed),
        },
        isClaimed === undefined
          ? 'no endpoint tells claimedBitMap'
          : `claimedBitMap says ${isClaimed ? 'claimed' : 'not claimed'}`,
      )
    },
    judgeFields: async () => new Map(),
  }
}

function mappingsOf({ witness }: Comparison, networkId: number): ComparedList {
  const { one, ...list } = listOf('token_mappings', 'token-mappings', networkId)
  const key = (row: Row): string =>
    [row.origin_network, row.origin_token_address, row.wrapped_token_address].map(plain).join(' ')
  const judge = async (row: Row, of: (wrapped: string) => Pair<boolean>): Promise<Verdict> => {
    const token = plain(row.origin_token_address)
    const wrapped = await witness.wrappedToken(networkId, Number(row.origin_network), token)
    if (wrapped === undefined)
      return { chain: 'unknown', because: 'no endpoint tells getTokenWrappedAddress' }
    return verdictOf(of(wrapped), `getTokenWrappedAddress is ${wrapped}`)
  }
  return {
    ...list,
    key,
    titleOf: (row) => `mapping of ${plain(row.origin_token_address)} on network ${networkId}`,
    again: (service, row) =>
      one(
        service,
        `&page_size=${PAGE_SIZE}&origin_token_address=${plain(row.origin_token_address)}`,
        (found) => key(found) === key(row),
      ),
    judgeMissing: (row, holder) =>
      judge(row, (wrapped) => {
        const holds = wrapped === plain(row.wrapped_token_address)
        return { ours: holds === (holder === 'ours'), theirs: holds === (holder === 'theirs') }
      }),
    judgeFields: async () => new Map(),
  }
}

async function compareProofs(
  comparison: Comparison,
  networkId: number,
  counts: readonly number[],
  shareOf: (share: number) => number,
): Promise<void> {
  const { progress, sample } = comparison
  const chosen = spread(counts.length, sample)
  for (const [at, place] of chosen.entries()) {
    progress.show(shareOf(at / chosen.length), `proofs of network ${networkId}`)
    await compareProof(comparison, networkId, counts[place]!)
  }
}

async function compareProof(comparison: Comparison, networkId: number, depositCount: number): Promise<void> {
  const { services, findings, witness } = comparison
  const of = depositQuery(networkId, depositCount)
  const what = `bridge ${depositCount} of network ${networkId}`
  const because = howProofsAreJudged(witness)
  const indexes = await both(services, (service) => service.ask(`/bridge/v1/l1-info-tree-index?${of}`))
  const ours = indexOf(indexes.ours)
  const theirs = indexOf(indexes.theirs)
  if (ours === undefined && theirs === undefined) return
  const judge = async (service: AskedService, index: number): Promise<JudgedProof | undefined> => {
    const proof = await proofUnder(service, networkId, depositCount, index)
    const { json } = await service.ask(`/bridge/v1/bridges?${of}`)
    const facts = factsBy(depositFact, rowsIn(service, json, 'bridges')[0] ?? {})
    return proof && { proof, holds: await witness.proofHolds({ networkId, depositCount }, facts, proof) }
  }
  if (ours !== theirs) {
    const verdict = verdictOf(
      {
        ours: ours !== undefined && (await judge(services.ours, ours))?.holds,
        theirs: theirs !== undefined && (await judge(services.theirs, theirs))?.holds,
      },
      because,
    )
    if (verdict.chain === 'both')
      findings.notes.add(
        'of some bridges the services tell other leaves of the L1 info tree; proofs under both hold',
      )
    else
      findings.add({
        what,
        field: 'l1_info_tree_index',
        ours: ours === undefined ? textOf(indexes.ours) : String(ours),
        theirs: theirs === undefined ? textOf(indexes.theirs) : String(theirs),
        ...verdict,
      })
  }
  if (ours === undefined || theirs === undefined) return
  findings.count('proofs')
  const index = Math.max(ours, theirs)
  compareJudgedProofs(findings, what, await both(services, (service) => judge(service, index)), because)
}

function depositQuery(networkId: number, depositCount: number): string {
  return `network_id=${networkId}&deposit_count=${depositCount}`
}

function indexOf({ status, json }: Told): number | undefined {
  return status === 200 && typeof json === 'number' ? json : undefined
}

/** @returns undefined where the service tells none. */
async function proofUnder(
  service: AskedService,
  networkId: number,
  depositCount: number,
  index: number,
): Promise<ToldProof | undefined> {
  const of = depositQuery(networkId, depositCount)
  const { status, json } = await service.ask(`/bridge/v1/claim-proof?${of}&leaf_index=${index}`)
  if (status !== 200) return undefined
  const { proof_local_exit_root: local, proof_rollup_exit_root: rollup, l1_info_tree_leaf } = json as Row
  const leaf = (l1_info_tree_leaf ?? {}) as Row
  return {
    local: Array.isArray(local) ? local : [],
    rollup: Array.isArray(rollup) ? rollup : [],
    mainnetExitRoot: String(leaf.mainnet_exit_root),
    rollupExitRoot: String(leaf.rollup_exit_root),
  }
}
