import type { ChainClient } from '../chain/chainClient.types.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import { type ClaimedWord, DEPOSITS_PER_WORD } from '../protocol/claimedBitMap.js'
import type { ContractState } from '../shard/contractState.types.js'
import type { Difference } from './audit.js'

/** Words per step while some were never compared since the start: ten requests, 128,000 deposits. */
const FRESH_WORDS = 500
/**
 * Most words per step afterwards. At an L2's six words in two minutes all of Ethereum's 264,477 deposits come round in six
 * hours.
 */
const REPEATED_WORDS = 14

export interface ClaimAuditOptions {
  readonly networkId: number
  readonly client: Pick<ChainClient, 'getClaimedWords'>
  readonly contractState: Pick<ContractState, 'claimSources' | 'claimedWord'>
  /** Deposits that are indexed, by source network. */
  readonly indexedDeposits: () => ReadonlyMap<number, number>
}

/**
 * Compares claims with the bridge's bitmap, 256 deposits per question. A claim, or the taking back of one, whose log a
 * provider left out of far history shows nowhere else: nothing follows from it.
 *
 * Every word is compared once after the start, soon; then all come round again, a few at a time.
 */
export class ClaimAudit {
  readonly #options: ClaimAuditOptions
  /** Per source, words below were compared since the start. */
  readonly #compared = new Map<number, number>()
  /** Words that differed; compared first until they do not. */
  #suspects: readonly ClaimedWord[] = []
  #round: Iterator<ClaimedWord> | undefined

  constructor(options: ClaimAuditOptions) {
    this.#options = options
  }

  /** True while some words were never compared since the start. */
  hasFresh(): boolean {
    return this.#fresh(1).length > 0
  }

  /**
   * Compares all words, in steps.
   * @returns the first difference, undefined for none. `isCompared` is false where the node can't tell.
   */
  async compareAll(checkpoint: BlockHeader, signal: AbortSignal): Promise<ClaimComparison> {
    this.#compared.clear()
    let isCompared = false
    do {
      const step = await this.compareSome(checkpoint, REPEATED_WORDS, signal)
      if (step.difference !== undefined) return step
      isCompared ||= step.isCompared
    } while (this.hasFresh())
    return { difference: undefined, isCompared }
  }

  /**
   * Compares the words that differed, then some that were never compared, else the next ones of the round.
   * @param repeated how many of the round; at least one, at most REPEATED_WORDS.
   */
  async compareSome(
    checkpoint: BlockHeader,
    repeated: number,
    signal: AbortSignal,
  ): Promise<ClaimComparison> {
    const fresh = this.#fresh(FRESH_WORDS)
    const count = Math.min(REPEATED_WORDS, Math.max(1, Math.round(repeated)))
    const words = [...this.#suspects, ...(fresh.length > 0 ? fresh : this.#repeated(count))]
    const { different, isCompared } = await this.#differing(words, checkpoint, signal)
    this.#suspects = different
    for (const { sourceNetwork, word } of fresh)
      this.#compared.set(sourceNetwork, Math.max(word + 1, this.#compared.get(sourceNetwork) ?? 0))
    const [first] = different
    if (first === undefined) return { difference: undefined, isCompared }
    const difference: Difference = {
      what: `claims of deposits ${DEPOSITS_PER_WORD * first.word} and following of network ${first.sourceNetwork}`,
      reason: 'missing_log',
      ours: hex(this.#options.contractState.claimedWord(first.sourceNetwork, first.word)),
      ask: async (reads) => {
        const [theirs] = await reads.getClaimedWords([first], checkpoint.number, signal)
        return theirs === undefined ? undefined : hex(theirs)
      },
    }
    return { difference, isCompared }
  }

  async #differing(words: readonly ClaimedWord[], { number }: BlockHeader, signal: AbortSignal) {
    if (words.length === 0) return { different: [], isCompared: false }
    const { client, contractState } = this.#options
    const answers = await client.getClaimedWords(words, number, signal)
    const different = words.filter(({ sourceNetwork, word }, index) => {
      const theirs = answers[index]
      return theirs !== undefined && theirs !== contractState.claimedWord(sourceNetwork, word)
    })
    return { different, isCompared: answers.some((answer) => answer !== undefined) }
  }

  #fresh(limit: number): ClaimedWord[] {
    const words: ClaimedWord[] = []
    for (const [sourceNetwork, end] of this.#ends())
      for (let word = this.#compared.get(sourceNetwork) ?? 0; word < end && words.length < limit; word++)
        words.push({ sourceNetwork, word })
    return words
  }

  #repeated(count: number): ClaimedWord[] {
    const words: ClaimedWord[] = []
    while (words.length < count) {
      this.#round ??= this.#newestFirst()
      const next = this.#round.next()
      if (!next.done) words.push(next.value)
      else {
        this.#round = undefined
        break
      }
    }
    return words
  }

  *#newestFirst(): Generator<ClaimedWord> {
    for (const [sourceNetwork, end] of this.#ends())
      for (let word = end - 1; word >= 0; word--) yield { sourceNetwork, word }
  }

  /** Per source, the number of its words that may hold a claim. */
  #ends(): Map<number, number> {
    const { networkId, contractState, indexedDeposits } = this.#options
    const deposits = new Map(indexedDeposits())
    for (const [source, claimed] of contractState.claimSources())
      deposits.set(source, Math.max(claimed, deposits.get(source) ?? 0))
    // Nothing is claimed where it was deposited.
    deposits.delete(networkId)
    return new Map([...deposits].map(([source, count]) => [source, Math.ceil(count / DEPOSITS_PER_WORD)]))
  }
}

export interface ClaimComparison {
  readonly difference: Difference | undefined
  readonly isCompared: boolean
}

function hex(word: bigint): string {
  return `0x${word.toString(16).padStart(64, '0')}`
}
