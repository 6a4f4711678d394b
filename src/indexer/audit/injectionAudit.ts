import type { ChainClient } from '../../chain/chainClient.types.js'
import type { BlockHeader, Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { ContractState } from '../../shard/contractState.types.js'
import type { L1InfoGerReader } from '../../shard/readiness/l1ShardReader.js'
import { equalHashes } from '../localChain.js'
import type { Difference } from '../recovery/contradictions.js'

/** Roots per step, and as many of the newest ones. */
const ROOTS_AT_ONCE = 50
/** Roots per question of the one full look. */
const ROOTS_PER_LOOK = 500

export interface InjectionAuditOptions {
  readonly client: Pick<ChainClient, 'getGerHashChains' | 'getKnownGers'>
  readonly contractState: Pick<ContractState, 'insertionChain' | 'gerRemovals' | 'isGerInForce'>
  readonly leaves: Pick<L1InfoGerReader, 'read'>
  /** True where roots have been told by events. */
  readonly isTold: () => boolean
  /** True where they are asked for instead: what the last sweep could not see yet is no log that was lost. */
  readonly isPolled: () => boolean
}

/**
 * Compares the global exit roots that a layer 2 was told of with its manager. From v10 on the manager chains hashes over
 * all insertions and removals: where ours is the same, and nothing was ever removed, two questions prove them all.
 * Otherwise its map is asked for the roots of the L1 info tree: all of them once, then the newest ones and some more.
 */
export class InjectionAudit {
  readonly #options: InjectionAuditOptions
  #hasLookedAtAll = false
  /** Leaf of the oldest root that is in force as far as we were told, at the last look at all. */
  #oldestTold = 0
  /** The round goes on below this leaf. */
  #below = 0

  constructor(options: InjectionAuditOptions) {
    this.#options = options
  }

  /** @returns the first difference; undefined for none. */
  async compare(checkpoint: BlockHeader, signal: AbortSignal): Promise<Difference | undefined> {
    const { client, contractState, isTold, isPolled } = this.#options
    if (isPolled()) return undefined
    const chains = await client.getGerHashChains(checkpoint.number, signal)
    if (chains === undefined && !isTold()) return undefined
    const isProven =
      chains !== undefined &&
      contractState.gerRemovals() === 0 &&
      chains.removed.every((byte) => byte === 0) &&
      equalHashes(chains.inserted, contractState.insertionChain())
    if (isProven) return undefined
    for (const stretch of this.#chosen()) {
      const difference = await this.#differing(stretch, checkpoint, signal)
      if (difference !== undefined) {
        this.#hasLookedAtAll = false
        return difference
      }
    }
    this.#hasLookedAtAll = true
    return undefined
  }

  *#chosen(): Generator<Stretch> {
    const { leaves, contractState } = this.#options
    if (!this.#hasLookedAtAll) {
      const all = leaves.read(() => 0).globalExitRoots
      this.#oldestTold = Math.max(
        0,
        all.findIndex((root) => contractState.isGerInForce(root)),
      )
      for (let end = all.length; end > 0; end -= ROOTS_PER_LOOK) {
        const first = Math.max(0, end - ROOTS_PER_LOOK)
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
   * A root that the manager alone knows counts from the oldest one on that we were told of. Older ones may be in its map
   * from the time before it told of them: legacy managers did not, and were made sovereign in place. Nothing hangs on them,
   * since every deposit that they cover is covered by the later ones.
   */
  async #differing(
    { first, roots }: Stretch,
    { number }: BlockHeader,
    signal: AbortSignal,
  ): Promise<Difference | undefined> {
    if (roots.length === 0) return undefined
    const { client, contractState } = this.#options
    const answers = await client.getKnownGers(roots, number, signal)
    const root = roots.find((one, index) => {
      const theirs = answers[index]
      if (theirs === undefined || theirs === contractState.isGerInForce(one)) return false
      return !theirs || first + index >= this.#oldestTold
    })
    if (root === undefined) return undefined
    const told = (isKnown: boolean): string => (isKnown ? 'in force' : 'not in force')
    return {
      what: `global exit root ${encodeHex(root)}`,
      reason: 'missing_log',
      ours: () => told(contractState.isGerInForce(root)),
      ask: async (reads, ...at) => {
        const [theirs] = await reads.getKnownGers([root], ...at)
        return theirs === undefined ? undefined : told(theirs)
      },
    }
  }
}

/** Roots of neighbouring leaves, and the first one's index. */
interface Stretch {
  readonly first: number
  readonly roots: readonly Hash[]
}
