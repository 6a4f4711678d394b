import type { StatusRow } from '../../board/statusBoard.js'
import type { ChainClient } from '../../chain/chainClient.types.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber } from '../../protocol/units.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { L1InfoGerReader } from '../../shard/readiness/l1ShardReader.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'

/** Roots per request; the first sweep of an old chain asks for about ten thousand. */
const ROOTS_AT_ONCE = 100
/** After the first sweep, only so many of the newest leaves are asked for: a sequencer injects recent roots. */
const RECENT_LEAVES = 500
/** While the L1 is further from its head than this, new leaves come all the time: then they start no sweep of their own. */
const MOST_L1_LAG_BLOCKS = 64

export interface GerPollerOptions {
  readonly network: NetworkConfig
  readonly client: Pick<ChainClient, 'findInjectedGers'>
  readonly writer: Pick<ShardWriter, 'checkpoint' | 'counts' | 'polledLeaves'>
  readonly proposer: Proposer
  readonly leaves: L1InfoGerReader
  /** This network's row of the status board. */
  readonly row: StatusRow
  /** The L1's row. */
  readonly l1: StatusRow
}

/**
 * Finds injections on legacy managers. There the node writes the map entry straight into storage, without an event and without a
 * transaction. So the map is asked for the roots of the L1 info leaves, newest first.
 *
 * Roots are injected in order, never an older one after a newer one. So a root that a sweep finds unknown, below the newest known
 * one, stays unknown, and the next sweep begins above it. With `ger_injection = "auto"` polling ends when an event injects a
 * root before any was found by polling.
 */
export class GerPoller {
  readonly #options: GerPollerOptions
  #l1Epoch: number | undefined
  /** There was no sweep yet, or injections were taken back since. */
  #isNew = true
  #seenL1Commits = -1
  /** The L1's commits when no polling was wanted: only a commit of this network, after which there is a sweep, changes that. */
  #unwantedL1Commits = -1
  #seenBlock: Hash | undefined
  /** Number of stored injections after the last sweep. If there are fewer now, some were taken back. */
  #seenInjections = -1

  constructor(options: GerPollerOptions) {
    this.#options = options
  }

  /** True when the L1, near its head, has committed since the last sweep. */
  hasNews(): boolean {
    const { l1 } = this.#options
    const [head, synced] = [l1.get('headBlock'), l1.get('syncedBlock')]
    const isNearHead = head !== undefined && synced !== undefined && head - synced <= MOST_L1_LAG_BLOCKS
    const commits = l1.get('commits')
    if (!isNearHead || commits === this.#seenL1Commits || commits === this.#unwantedL1Commits) return false
    const isWanted = this.#isWanted()
    if (!isWanted) this.#unwantedL1Commits = commits
    return isWanted
  }

  /** Asks for roots that may have been injected since the last sweep, and stores those that were. The checkpoint must be the head. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { writer, proposer, leaves, l1, row } = this.#options
    this.#unwantedL1Commits = -1
    const checkpoint = writer.checkpoint()
    // Read before the snapshot, which may then be newer than that, but never older.
    const l1Commits = l1.get('commits')
    if (!this.#isWanted()) row.set('polledL1Commits', undefined)
    if (checkpoint === undefined || !this.#isWanted()) return
    const isSame = this.#seenBlock !== undefined && equalBytes(checkpoint.hash, this.#seenBlock)
    if (l1Commits === this.#seenL1Commits && isSame && writer.counts().gerInjections === this.#seenInjections)
      return

    // Injections that were taken back with their block are asked for again, however old.
    if (writer.counts().gerInjections < this.#seenInjections) this.#isNew = true
    const { epoch, leafCount, globalExitRoots } = leaves.read((tree) => this.#firstLeaf(tree))
    const known = await this.#findKnown(globalExitRoots, checkpoint.number, signal)
    const first = leafCount - globalExitRoots.length
    const isChanged = this.#l1Epoch !== undefined && this.#l1Epoch !== epoch
    if (known.length > 0)
      await proposeOrThrow(proposer, {
        type: 'addPolledGers',
        globalExitRoots: known.map((position) => globalExitRoots[position]!),
        polledLeaves: first + known.at(-1)! + 1,
      })
    else if (isChanged && writer.polledLeaves() !== undefined)
      await proposeOrThrow(proposer, { type: 'addPolledGers', globalExitRoots: [], polledLeaves: first })
    this.#l1Epoch = epoch
    this.#isNew = false
    this.#seenL1Commits = l1Commits
    row.set('polledL1Commits', l1Commits)
    this.#seenBlock = checkpoint.hash
    this.#seenInjections = writer.counts().gerInjections
  }

  #isWanted(): boolean {
    const { network, writer } = this.#options
    if (network.gerInjection !== 'auto') return network.gerInjection === 'poll'
    return writer.counts().gerInjections === 0 || writer.polledLeaves() !== undefined
  }

  #firstLeaf({ epoch, leafCount }: { readonly epoch: number; readonly leafCount: number }): number {
    const done = this.#options.writer.polledLeaves() ?? 0
    const recent = Math.max(0, leafCount - RECENT_LEAVES)
    // The first sweep leaves nothing out, and asks again for recent roots: an L1 reorg may have changed them meanwhile.
    if (this.#isNew) return Math.min(done, recent)
    return this.#l1Epoch === epoch ? Math.max(done, recent) : recent
  }

  /** Positions of the roots that the manager knows, ascending. */
  async #findKnown(roots: readonly Hash[], block: BlockNumber, signal: AbortSignal): Promise<number[]> {
    const known: number[] = []
    for (let end = roots.length; end > 0; end -= ROOTS_AT_ONCE) {
      const start = Math.max(0, end - ROOTS_AT_ONCE)
      const answers = await this.#options.client.findInjectedGers(roots.slice(start, end), block, signal)
      for (const [i, isKnown] of answers.entries()) if (isKnown) known.push(start + i)
    }
    return known.sort((a, b) => a - b)
  }
}
