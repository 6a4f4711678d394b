import { InvariantError } from '../../errors/invariantError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getRoot } from '../../merkle/treeProofs.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { readCheckpoint } from '../position/chainPosition.js'
import { readCounters } from '../position/counters.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { type Check, DamageError, type VerifyContext } from './check.js'
import { checkClaimLinks, checkClaims, checkClaimsOutOfForce } from './checkClaims.js'
import { checkDeposits, checkSenders } from './checkDeposits.js'
import { checkDictionaries, expectNumbered } from './checkDictionaries.js'
import { checkExitRoots, checkNewestRoot } from './checkExitRoots.js'
import { checkInjections } from './checkInjections.js'
import { checkL1InfoLeaves, checkMainnetCoverage } from './checkL1Info.js'
import { checkLists } from './checkLists.js'
import { checkPosition } from './checkPosition.js'
import { checkRegrownLeaves } from './checkRegrownLeaves.js'
import { checkRollupExits } from './checkRollupExits.js'
import { checkSenderOverlay } from './checkSenderOverlay.js'
import { checkTokenMappings } from './checkTokenMappings.js'
import { checkTransactions } from './checkTransactions.js'
import { checkTreeNodes } from './checkTreeNodes.js'

const quickChecks: readonly Check[] = [
  { name: 'chain position', run: checkPosition },
  { name: 'deposits', run: checkDeposits },
  { name: 'newest exit root', run: checkNewestRoot },
  { name: 'claims', run: checkClaims },
]

const quickChecksOfL1: readonly Check[] = [{ name: 'L1 info leaves', run: checkL1InfoLeaves }]

const deepChecks: readonly Check[] = [
  { name: 'tree nodes', run: checkTreeNodes },
  { name: 'exit roots', run: checkExitRoots },
  { name: 'regrown deposits', run: checkRegrownLeaves },
  { name: 'senders', run: checkSenders },
  { name: 'corrected senders', run: checkSenderOverlay },
  { name: 'claim links', run: checkClaimLinks },
  { name: 'claims out of force', run: checkClaimsOutOfForce },
  { name: 'dictionaries', run: checkDictionaries },
  { name: 'injections', run: checkInjections },
  { name: 'token mappings', run: checkTokenMappings },
  { name: 'archive', run: checkArchive },
  { name: 'lists', run: checkLists },
  { name: 'transactions', run: checkTransactions },
]

const deepChecksOfL1: readonly Check[] = [
  { name: 'mainnet coverage', run: checkMainnetCoverage },
  { name: 'rollup exit roots', run: checkRollupExits },
]

/** How one check ended. `detail`: what was found good, or the first thing that is not. */
export interface CheckResult {
  readonly name: string
  readonly isGood: boolean
  readonly detail: string
}

/** What a snapshot claims about the contract, to be compared with it. */
export interface ShardClaims {
  readonly checkpoint: BlockHeader
  readonly deposits: number
  /** Root over all deposits. */
  readonly localExitRoot: Uint8Array
}

/**
 * Works out anew what a shard derived when it stored its events, and compares. One check after another, each up to the first
 * thing that is not as it should be; the body sees each result as it comes.
 * @param view one snapshot, the same from begin to end.
 */
export function* verifyShard(
  view: ReadView,
  networkId: NetworkId,
  hasher: TreeHasher,
  isDeep: boolean,
): Generator<CheckResult> {
  const isL1 = networkId === 0
  const checks = [
    ...quickChecks,
    ...(isL1 ? quickChecksOfL1 : []),
    ...(isDeep ? deepChecks : []),
    ...(isDeep && isL1 ? deepChecksOfL1 : []),
  ]
  const context = openContext(view, networkId, hasher)
  for (const { name, run } of checks) {
    try {
      yield { name, isGood: true, detail: run(context) }
    } catch (error) {
      if (!isDamage(error)) throw error
      yield { name, isGood: false, detail: error.message }
    }
  }
}

/** What can be compared with the contract; undefined while nothing is indexed, or where the tree can't be read. */
export function readShardClaims(
  view: ReadView,
  networkId: NetworkId,
  hasher: TreeHasher,
): ShardClaims | undefined {
  const { checkpoint, counters } = openContext(view, networkId, hasher)
  if (checkpoint === undefined) return undefined
  try {
    const tree = localExitTreeSource(view, hasher, counters.lineage)
    const localExitRoot = getRoot(tree, counters.lineage, counters.deposits)
    return { checkpoint, deposits: counters.deposits, localExitRoot }
  } catch (error) {
    if (!isDamage(error)) throw error
    return undefined
  }
}

function openContext(view: ReadView, networkId: NetworkId, hasher: TreeHasher): VerifyContext {
  const counters = readCounters(view)
  return { view, networkId, hasher, counters, checkpoint: readCheckpoint(view) }
}

/** Readers that find a row or node missing say so as they do everywhere; a row that can't be decoded is out of range. */
function isDamage(error: unknown): error is Error {
  return error instanceof DamageError || error instanceof InvariantError || error instanceof RangeError
}

function checkArchive(context: VerifyContext): string {
  const { archivedDeposits } = context.counters
  expectNumbered(context, 'archivedDeposits', 'archived deposit', archivedDeposits)
  return `${archivedDeposits} archived deposits`
}
