import type { ChainClient } from '../../chain/chainClient.types.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { BlockHeader, Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { ContractState } from '../../shard/contractState.types.js'
import type { L1InfoGerReader } from '../../shard/readiness/l1ShardReader.js'
import type { ComparedValue } from '../recovery/comparedValue.js'

/** Roots per step: so many of the newest ones, and as many older ones. */
const ROOTS_AT_ONCE = 50
/** Roots per request while all of them are compared once. */
const ROOTS_PER_REQUEST = 500

export interface InjectionAuditOptions {
  readonly client: Pick<ChainClient, 'getGerHashChains' | 'getKnownGers'>
  readonly contractState: Pick<ContractState, 'insertionChain' | 'gerRemovals' | 'isGerInForce'>
  readonly leaves: Pick<L1InfoGerReader, 'read'>
  /** True when injections are known from events. */
  readonly hasEvents: () => boolean
  /** True when injections are found by polling: one that the last sweep did not see yet is no missing log. */
  readonly isPolled: () => boolean
}

/**
 * Compares the stored injections of a layer 2 with its manager. From v10 on the manager keeps hash chains over all insertions and
 * removals: if its insertion chain is ours, and nothing was ever removed, two calls prove all injections. Otherwise the
 * manager's map is asked about the roots of the L1 info tree: all of them once, then the newest ones and some older ones.
 */
export class InjectionAudit {
  readonly #options: InjectionAuditOptions
  #hasComparedAll = false
  /** L1 info leaf of the oldest root that was in force as stored, when all were compared last. */
  #oldestInForce = 0
  /** The round continues below this leaf. */
  #below = 0

  constructor(options: InjectionAuditOptions) {
    this.#options = options
  }

  /** @returns the first difference; undefined for none. */
  async compare(checkpoint: BlockHeader, signal: AbortSignal): Promise<ComparedValue | undefined> {
    const { client, contractState, hasEvents, isPolled } = this.#options
    if (isPolled()) return undefined
    const chains = await client.getGerHashChains(checkpoint.number, signal)
    if (chains === undefined && !hasEvents()) return undefined
    const isProven =
      chains !== undefined &&
      contractState.gerRemovals() === 0 &&
      chains.removed.every((byte) => byte === 0) &&
      equalBytes(chains.inserted, contractState.insertionChain())
    if (isProven) return undefined
    for (const stretch of this.#chosen()) {
      const difference = await this.#differing(stretch, checkpoint, signal)
      if (difference !== undefined) {
        this.#hasComparedAll = false
        return difference
      }
    }
    this.#hasComparedAll = true
    return undefined
  }

  /** The roots to compare this time. */
  *#chosen(): Generator<Stretch> {
    const { leaves, contractState } = this.#options
    if (!this.#hasComparedAll) {
      const all = leaves.read(() => 0).globalExitRoots
      this.#oldestInForce = Math.max(
        0,
        all.findIndex((root) => contractState.isGerInForce(root)),
      )
      for (let end = all.length; end > 0; end -= ROOTS_PER_REQUEST) {
        const first = Math.max(0, end - ROOTS_PER_REQUEST)
        yield { first, roots: all.slice(first, end) }
      }
      return
    }
    const { leafCount, globalExitRoots: newest } = leaves.read((tree) =>
      Math.max(0, tree.leafCount - ROOTS_AT_ONCE),
    )
    yield { first: leafCount - newest.length, roots: newest }
    const below = Math.min(this.#below > 0 ? this.#below : leafCount, leafCount)
    const first = Math.max(0, below - ROOTS_AT_ONCE)
    this.#below = first
    yield { first, roots: leaves.read(() => first).globalExitRoots.slice(0, below - first) }
  }

  /**
   * Finds the first root that differs. A root that only the manager knows counts only if it is not older than all stored ones: a
   * legacy manager, which emits no events, may have been upgraded in place, and its map still has the roots from before.
   * Readiness does not need those: later roots cover every deposit that they cover.
   */
  async #differing(
    { first, roots }: Stretch,
    { number }: BlockHeader,
    signal: AbortSignal,
  ): Promise<ComparedValue | undefined> {
    if (roots.length === 0) return undefined
    const { client, contractState } = this.#options
    const answers = await client.getKnownGers(roots, number, signal)
    const root = roots.find((one, index) => {
      const theirs = answers[index]
      if (theirs === undefined || theirs === contractState.isGerInForce(one)) return false
      return !theirs || first + index >= this.#oldestInForce
    })
    if (root === undefined) return undefined
    const inWords = (isKnown: boolean): string => (isKnown ? 'in force' : 'not in force')
    return {
      what: `global exit root ${encodeHex(root)}`,
      reason: 'missing_log',
      ours: () => inWords(contractState.isGerInForce(root)),
      ask: async (reads, ...at) => {
        const [theirs] = await reads.getKnownGers([root], ...at)
        return theirs === undefined ? undefined : inWords(theirs)
      },
    }
  }
}

/** Roots of consecutive L1 info leaves, and the index of the first one. */
interface Stretch {
  readonly first: number
  readonly roots: readonly Hash[]
}
