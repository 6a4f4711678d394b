import { pathToFileURL } from 'node:url'
import type { ApiAnswer, ServiceProcess } from '../support/serviceProcess.js'
import { sharedPath } from '../support/sharedFolder.js'
import type { ClaimNow, ExpectedBridge, ExpectedNow } from './replayControl.js'

interface BridgeRow {
  readonly deposit_count: number
  readonly tx_hash: string
  readonly amount: string
  readonly block_timestamp: number
  readonly destination_network: number
  readonly ready_for_claim: boolean
  readonly claim_tx_hash: string | null
}

interface ClaimRow {
  readonly tx_hash: string
  readonly log_index: number
  readonly origin_network: number
  readonly deposit_count: number
}

interface Proof {
  readonly smtProofLocalExitRoot: readonly string[]
  readonly smtProofRollupExitRoot: readonly string[]
  readonly l1InfoTreeLeaf: { readonly globalExitRoot: string }
}

interface Trees {
  leafHash(bridge: ExpectedBridge): string
  rootFromProof(leaf: string, siblings: readonly string[], index: number): string
}

interface SyncStatus {
  readonly networks: readonly {
    readonly network_id: number
    readonly current_block: number
    readonly synced_block: number
    readonly is_synced: boolean
    readonly halted: string | null
    readonly indexed_deposit_count: number
  }[]
}

/** Answers that are allowed at any time besides a right 200: not there (yet), and too busy. */
const REFUSALS = [404, 503, 504]
const sameText = (a: string | null | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase()

/**
 * Asks for everything while the service may be behind, halted or cut off, and returns every 200 that is false: a
 * gap in the deposits, a row of another chain, a ready deposit whose proof does not lead to the exit roots of its
 * leaf, a claim that does not exist, a network that says synced and is not. An empty list: no answer was false.
 */
export async function findLies(
  service: Pick<ServiceProcess, 'get'>,
  expected: ExpectedNow,
): Promise<string[]> {
  const trees = (await import(pathToFileURL(sharedPath('replay', 'lib', 'trees.mjs')).href)) as Trees
  const lies: string[] = []
  const claimsEver = claimHistory(expected)
  const refusals: string[] = []
  const ask = async <T>(path: string): Promise<T | undefined> => {
    const { status, body }: ApiAnswer = await service.get(`/bridge/v1${path}`)
    if (status === 200) return body as T
    if (!REFUSALS.includes(status)) lies.push(`${path}: ${status} ${JSON.stringify(body)}`)
    refusals.push(`${path}: ${status}`)
    return undefined
  }
  const isSynced = (id: number): boolean => {
    const told = status?.networks.find(({ network_id }) => network_id === id)
    return told?.is_synced === true && told.synced_block >= (expected.networks[id]?.head ?? 0)
  }
  // Asked first: networks that are synced now must be served completely from now on.
  const status = await ask<SyncStatus>('/sync-status')
  for (const network of Object.keys(expected.networks).map(Number)) {
    const answer = await ask<{ bridges: BridgeRow[]; pagination: { total: number } }>(
      `/bridges?network_id=${network}&page_size=1000`,
    )
    const rows = answer?.bridges ?? []
    if (answer !== undefined && answer.pagination.total !== rows.length)
      lies.push(`network ${network}: total ${answer.pagination.total} of ${rows.length} rows`)
    const told: ExpectedBridge[] = []
    for (const [position, row] of rows.entries()) {
      const id = `${network}#${row.deposit_count}`
      const due = rows.length - 1 - position
      if (row.deposit_count !== due) lies.push(`${id} where ${due} is due`)
      const known = findDeposit(expected, network, row, isSynced(network))
      if (known === undefined) {
        lies.push(`${id}: no such deposit`)
        continue
      }
      told.push(known)
      lies.push(...falseFields(id, row, known, claimsEver))
      // A destination that still reads may not have the claim yet, nor the unset of it. A destination that is
      // synced at the head must have both.
      const isDecided = isSynced(row.destination_network)
      const isClaimed = claimsOf(claimsEver, known).at(-1)?.kind === 'set'
      if (isDecided && !isClaimed && row.claim_tx_hash !== null)
        lies.push(`${id}: claimed by ${row.claim_tx_hash}, which was taken back`)
      if (!row.ready_for_claim) continue
      if (isDecided && isClaimed) lies.push(`${id}: ready although claimed`)
      const found = await falseProof(id, known, expected, trees, ask)
      if (!/: 50[34]$/.test(refusals.at(-1) ?? '')) lies.push(...found)
    }
    lies.push(...mixedTrees(told, expected))
    const claims = await ask<{ claims: ClaimRow[] }>(`/claims?network_id=${network}&page_size=1000`)
    const claimed = new Set<string>()
    for (const row of claims?.claims ?? []) {
      lies.push(...falseClaim(network, row, claimsEver, isSynced(network)))
      const id = `${row.origin_network}#${row.deposit_count}`
      if (claimed.has(id)) lies.push(`network ${network}: ${id} is claimed twice`)
      claimed.add(id)
    }
    const { head, depositCount } = expected.networks[network]!
    if (isSynced(network) && rows.length !== depositCount)
      lies.push(`network ${network} is synced at ${head} with ${rows.length} of ${depositCount} deposits`)
  }
  return lies
}

/** All that made or took back a claim, in the order of each chain. SetClaim makes one without a ClaimEvent. */
function claimHistory({ claims, claimMarks }: ExpectedNow): ClaimNow[] {
  const made = claims.map((claim) => ({ ...claim, kind: 'set' as const }))
  return [...made, ...claimMarks].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

interface DepositName {
  readonly sourceNetwork: number
  readonly depositCount: number
  readonly destinationNetwork: number
}

/** History of one deposit's claim: its last entry decides. */
function claimsOf(claimsEver: readonly ClaimNow[], deposit: DepositName): ClaimNow[] {
  return claimsEver.filter(
    ({ network, sourceNetwork, depositCount }) =>
      network === deposit.destinationNetwork &&
      sourceNetwork === deposit.sourceNetwork &&
      depositCount === deposit.depositCount,
  )
}

/**
 * The deposit that a row describes. A network that has not yet indexed the cut of its exit tree may list archived
 * deposits, a network that says synced may not.
 */
function findDeposit(
  { bridges, archived }: ExpectedNow,
  network: number,
  row: BridgeRow,
  isSynced: boolean,
): ExpectedBridge | undefined {
  const isNamed = ({ depositCount }: { readonly depositCount: number }) => depositCount === row.deposit_count
  const inTree = bridges.find((bridge) => bridge.sourceNetwork === network && isNamed(bridge))
  if (isSynced || (inTree !== undefined && sameText(row.tx_hash, inTree.txHash))) return inTree
  const cutOff = archived[network]?.find((bridge) => isNamed(bridge) && sameText(row.tx_hash, bridge.txHash))
  return cutOff === undefined ? inTree : { ...cutOff, sourceNetwork: network }
}

/** A deposit that was cut off can't stand beside one from after the cut. */
function mixedTrees(told: readonly ExpectedBridge[], { bridges }: ExpectedNow): string[] {
  const newestBlock = Math.max(...told.map(({ blockNumber }) => blockNumber))
  return told.flatMap(({ sourceNetwork, depositCount, txHash }) => {
    const inTree = bridges.find(
      (bridge) => bridge.sourceNetwork === sourceNetwork && bridge.depositCount === depositCount,
    )
    const isMixed = inTree !== undefined && inTree.txHash !== txHash && inTree.blockNumber <= newestBlock
    return isMixed ? [`${sourceNetwork}#${depositCount}: cut off, and listed with block ${newestBlock}`] : []
  })
}

function falseClaim(
  network: number,
  row: ClaimRow,
  claimsEver: readonly ClaimNow[],
  isDecided: boolean,
): string[] {
  const history = claimsOf(claimsEver, {
    sourceNetwork: row.origin_network,
    depositCount: row.deposit_count,
    destinationNetwork: network,
  })
  const id = `network ${network}: ${row.origin_network}#${row.deposit_count}`
  const isMade = history.some(
    ({ kind, txHash, logIndex }) =>
      kind === 'set' && sameText(row.tx_hash, txHash) && logIndex === row.log_index,
  )
  if (!isMade) return [`${id}: nobody made the claim ${row.tx_hash}`]
  const isTakenBack = isDecided && history.at(-1)?.kind === 'unset'
  return isTakenBack ? [`${id}: the claim ${row.tx_hash} was taken back`] : []
}

function falseFields(
  id: string,
  row: BridgeRow,
  known: ExpectedBridge,
  claimsEver: readonly ClaimNow[],
): string[] {
  const lies: string[] = []
  const isSame =
    sameText(row.tx_hash, known.txHash) &&
    row.amount === String(known.amount) &&
    row.block_timestamp === known.blockTimestamp &&
    row.destination_network === known.destinationNetwork
  if (!isSame) lies.push(`${id}: ${JSON.stringify(row)} instead of ${JSON.stringify(known)}`)
  const isClaimKnown = claimsOf(claimsEver, known).some(
    ({ kind, txHash }) => kind === 'set' && sameText(row.claim_tx_hash, txHash),
  )
  if (row.claim_tx_hash !== null && !isClaimKnown) lies.push(`${id}: claimed by ${row.claim_tx_hash}`)
  if (row.claim_tx_hash !== null && row.ready_for_claim) lies.push(`${id}: claimed and ready`)
  return lies
}

/** Does with a ready deposit what a caller would, and checks that its proof leads to the roots of its leaf. */
async function falseProof(
  id: string,
  known: ExpectedBridge,
  expected: ExpectedNow,
  trees: Trees,
  ask: <T>(path: string) => Promise<T | undefined>,
  attempts = 2,
): Promise<string[]> {
  const { l1InfoLeaves } = expected
  const { leafHash, rootFromProof } = trees
  const query = `network_id=${known.sourceNetwork}&deposit_count=${known.depositCount}`
  // A rewind ends readiness, and a settled root that it took along may be found again before the next question:
  // only a row that is ready before, between and after two refusals must have a proof.
  const unlessTakenBack = async (lie: string): Promise<string[]> => {
    const again = await ask<{ bridges: BridgeRow[] }>(`/bridges?${query}`)
    if (again?.bridges[0]?.ready_for_claim !== true) return []
    return attempts > 1 ? falseProof(id, known, expected, trees, ask, attempts - 1) : [lie]
  }
  const index = await ask<{ l1_info_tree_index: number }>(`/l1-info-tree-index?${query}`)
  if (index === undefined) return unlessTakenBack(`${id}: ready without an index`)
  const i = index.l1_info_tree_index
  const answer = await ask<{ proof: Proof }>(`/claim-proof?${query}&leaf_index=${i}`)
  const leaf = l1InfoLeaves[i]
  if (answer === undefined || leaf === undefined)
    return unlessTakenBack(`${id}: ready without a proof for leaf ${i}`)
  const { smtProofLocalExitRoot, smtProofRollupExitRoot, l1InfoTreeLeaf } = answer.proof
  const localRoot = rootFromProof(leafHash(known), smtProofLocalExitRoot, known.depositCount)
  const isL1 = known.sourceNetwork === 0
  const root = isL1 ? localRoot : rootFromProof(localRoot, smtProofRollupExitRoot, known.sourceNetwork - 1)
  const wanted = isL1 ? leaf.mainnetExitRoot : leaf.rollupExitRoot
  const isRight = sameText(root, wanted) && sameText(l1InfoTreeLeaf.globalExitRoot, leaf.globalExitRoot)
  return isRight ? [] : [`${id}: the proof with leaf ${i} leads to ${root} instead of ${wanted}`]
}
