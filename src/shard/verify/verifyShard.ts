import { InvariantError } from '../../errors/invariantError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getRoot } from '../../merkle/treeProofs.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { readCheckpoint, readCounters } from '../position/chainPosition.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { DamageError, type ShardCheck, type VerifyContext } from './check.js'
import { checkClaimLinks, checkClaims, checkClaimsOutOfForce } from './checkClaims.js'
import { checkDeposits, checkSenders } from './checkDeposits.js'
import { checkDictionaries, expectNumbered } from './checkDictionaries.js'
import {
  checkEventPlaces,
  checkGerRemovals,
  checkTokenMigrations,
  checkUnsetClaims,
} from './checkEventPlaces.js'
import { checkExitRoots, checkNewestRoot, checkRegrownLeaves } from './checkExitRoots.js'
import { checkFeed } from './checkFeed.js'
import { checkHashes } from './checkHashes.js'
import { checkInjections } from './checkInjections.js'
import { checkL1InfoLeaves, checkMainnetCoverage } from './checkL1Info.js'
import { checkLists } from './checkLists.js'
import { checkPosition } from './checkPosition.js'
import { checkRollupExits } from './checkRollupExits.js'
import { checkSenderOverlay } from './checkSenderOverlay.js'
import { checkTokenMappings } from './checkTokenMappings.js'
import { checkTreeNodes } from './checkTreeNodes.js'

const quickChecks: readonly ShardCheck[] = [
  { name: 'chain position', run: checkPosition },
  { name: 'deposits', run: checkDeposits },
  { name: 'newest exit root', run: checkNewestRoot },
  { name: 'claims', run: checkClaims },
]

const quickChecksOfL1: readonly ShardCheck[] = [{ name: 'L1 info leaves', run: checkL1InfoLeaves }]

const deepChecks: readonly ShardCheck[] = [
  { name: 'tree nodes', run: checkTreeNodes },
  { name: 'exit roots', run: checkExitRoots },
  { name: 'regrown deposits', run: checkRegrownLeaves },
  { name: 'senders', run: checkSenders },
  { name: 'corrected senders', run: checkSenderOverlay },
  { name: 'claim links', run: checkClaimLinks },
  { name: 'claims out of force', run: checkClaimsOutOfForce },
  { name: 'dictionaries', run: checkDictionaries },
  { name: 'injections', run: checkInjections },
  { name: 'removed roots', run: checkGerRemovals },
  { name: 'unset claims', run: checkUnsetClaims },
  { name: 'token mappings', run: checkTokenMappings },
  { name: 'token migrations', run: checkTokenMigrations },
  { name: 'places of events', run: checkEventPlaces },
  { name: 'feed', run: checkFeed },
  { name: 'archive', run: checkArchive },
  { name: 'lists', run: checkLists },
  { name: 'hashes', run: checkHashes },
]

const deepChecksOfL1: readonly ShardCheck[] = [
  { name: 'mainnet coverage', run: checkMainnetCoverage },
  { name: 'rollup exit roots', run: checkRollupExits },
]

/** How one check ended. `detail`: what was checked, or the first fault. */
export interface CheckResult {
  readonly name: string
  readonly isGood: boolean
  readonly detail: string
}

/** Values of a snapshot that the contract also has. */
export interface ComparableState {
  readonly checkpoint: BlockHeader
  readonly deposits: number
  /** Root of all deposits. */
  readonly localExitRoot: Uint8Array
}

/**
 * Derives again what the writer derived from the events, and compares it with what is stored. Yields the result of each check as
 * soon as it ends; a check ends at its first fault.
 * @param view one snapshot, the same from the first read to the last.
 * @param onCheck is called before each check with its name, how many ended before it, and how many there are.
 */
export function* verifyShard(
  view: ReadView,
  networkId: NetworkId,
  hasher: TreeHasher,
  isDeep: boolean,
  onCheck: (name: string, done: number, all: number) => void = () => undefined,
): Generator<CheckResult> {
  const isL1 = networkId === 0
  const checks = [
    ...quickChecks,
    ...(isL1 ? quickChecksOfL1 : []),
    ...(isDeep ? deepChecks : []),
    ...(isDeep && isL1 ? deepChecksOfL1 : []),
  ]
  const context = openContext(view, networkId, hasher)
  for (const [done, { name, run }] of checks.entries()) {
    onCheck(name, done, checks.length)
    try {
      yield { name, isGood: true, detail: run(context) }
    } catch (error) {
      if (!isDamage(error)) throw error
      yield { name, isGood: false, detail: error.message }
    }
  }
}

/** The values to compare with the contract; undefined while nothing is indexed, or when the tree can't be read. */
export function readComparableState(
  view: ReadView,
  networkId: NetworkId,
  hasher: TreeHasher,
): ComparableState | undefined {
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

/** Readers throw InvariantError for a missing row or node, and RangeError for a row that can't be decoded. */
function isDamage(error: unknown): error is Error {
  return error instanceof DamageError || error instanceof InvariantError || error instanceof RangeError
}

function checkArchive(context: VerifyContext): string {
  const { archivedDeposits } = context.counters
  expectNumbered(context, 'archivedDeposits', 'archived deposit', archivedDeposits)
  return `${archivedDeposits} archived deposits`
}
