import type { ChainClient } from '../../chain/chainClient.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { type ClaimedWord, DEPOSITS_PER_WORD, wordsOf } from '../../protocol/claimedBitMap.js'
import type { NetworkId } from '../../protocol/units.js'
import type { ContractState } from '../../shard/contractState.types.js'
import type { ComparedClaims } from '../../shard/shardCommand.types.js'
import type { ComparedValue } from '../recovery/comparedValue.js'

/** Words per step until all were compared once: 128,000 deposits by ten requests or one call. */
const FRESH_WORDS = 500
/**
 * Most words per step afterwards, if each is a call. An L2 that compares six words in two minutes gets through Ethereum's 264,477
 * deposits in six hours; if one call answers FRESH_WORDS, in three steps.
 */
const REPEATED_WORDS = 14

export interface ClaimAuditOptions {
  readonly networkId: NetworkId
  readonly client: Pick<ChainClient, 'getClaimedWords' | 'readsManyWords'>
  readonly contractState: Pick<ContractState, 'claimSources' | 'claimedWordsFrom' | 'claimedWord'>
  /** Number of indexed deposits, by source network. */
  readonly indexedDeposits: () => ReadonlyMap<NetworkId, number>
}

/** Which words of one source network were compared since the start. */
interface Compared {
  /** All words below this one, which are words of indexed deposits and the one that follows. */
  below: number
  /** Words above those. */
  readonly apart: Set<number>
}

/**
 * Compares claims with the bridge's `claimedBitMap`, 256 deposits per word. If a provider left out the log of a claim, or of an
 * unset claim, nothing else would show it.
 *
 * Compared are the words of all indexed deposits and the one that follows them, and all other words that have a stored claim: a claim
 * may be of a network that is not indexed, or set by an administrator for any deposit count up to 2^32. After the start every word is
 * compared once, soon; then again and again, a few at a time.
 */
export class ClaimAudit {
  readonly #options: ClaimAuditOptions
  readonly #compared = new Map<NetworkId, Compared>()
  /** Words that differed: they are compared first until they agree. */
  #suspects: readonly ClaimedWord[] = []
  #round: Iterator<ClaimedWord> | undefined

  constructor(options: ClaimAuditOptions) {
    this.#options = options
  }

  /** True while some words were never compared since the start. */
  hasFresh(): boolean {
    return this.#fresh(1).length > 0
  }

  /** True while some words of indexed deposits, or the one that follows, were never compared since the start. Reads nothing from the store. */
  hasFreshDeposits(): boolean {
    const { networkId, indexedDeposits } = this.#options
    for (const [source, deposits] of indexedDeposits())
      if (source !== networkId && (this.#compared.get(source)?.below ?? 0) < endOf(deposits)) return true
    return false
  }

  /**
   * How many words the other networks' deposits may take in all while every one of them is surely compared: those of now, as far as
   * they are compared, and one more, since one behind each network's is compared, too. Other threads raise the counts at any time.
   */
  comparedWords(): number {
    const { networkId, indexedDeposits } = this.#options
    let words = 0
    let isAhead = true
    for (const [source, deposits] of indexedDeposits()) {
      if (source === networkId) continue
      const below = this.#compared.get(source)?.below ?? 0
      if (below === 0) isAhead = false
      else words += Math.min(wordsOf(deposits), below - 1)
    }
    return isAhead ? words + 1 : words
  }

  /** Of how many of its first deposits each source network's claims were compared since the start, and agreed. */
  compared(): ComparedClaims[] {
    return [...this.#compared].map(([sourceNetwork, { below }]) => ({
      sourceNetwork,
      deposits: below * DEPOSITS_PER_WORD,
    }))
  }

  /**
   * Compares all words, in steps.
   * @returns the first difference. `isCompared` is false when no endpoint answered.
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
   * Compares the words that differed, and some that were never compared; if there are none, the next words of the round.
   * @param repeated how many words of the round, if each is a call. It is raised to 1, and cut to REPEATED_WORDS.
   */
  async compareSome(
    checkpoint: BlockHeader,
    repeated: number,
    signal: AbortSignal,
  ): Promise<ClaimComparison> {
    const fresh = this.#fresh(FRESH_WORDS)
    const few = Math.min(REPEATED_WORDS, Math.max(1, Math.round(repeated)))
    const count = this.#options.client.readsManyWords() ? FRESH_WORDS : few
    const words = [...this.#suspects, ...(fresh.length > 0 ? fresh : this.#repeated(count))]
    const { different, isCompared } = await this.#differing(words, checkpoint, signal)
    this.#suspects = different
    // While a difference is not settled, the endpoint's other answers can't be trusted either.
    if (different.length === 0) for (const each of fresh) this.#noteCompared(each)
    const [first] = different
    if (first === undefined) return { difference: undefined, isCompared }
    const difference: ComparedValue = {
      what: `claims of deposits ${DEPOSITS_PER_WORD * first.word} and following of network ${first.sourceNetwork}`,
      reason: 'missing_log',
      ours: () => hex(this.#options.contractState.claimedWord(first)),
      ask: async (reads, ...at) => {
        const [theirs] = await reads.getClaimedWords([first], ...at)
        return theirs === undefined ? undefined : hex(theirs)
      },
    }
    return { difference, isCompared }
  }

  async #differing(words: readonly ClaimedWord[], { number }: BlockHeader, signal: AbortSignal) {
    if (words.length === 0) return { different: [], isCompared: false }
    const { client, contractState } = this.#options
    const answers = await client.getClaimedWords(words, number, signal)
    const different = words.filter((word, index) => {
      const theirs = answers[index]
      return theirs !== undefined && theirs !== contractState.claimedWord(word)
    })
    return { different, isCompared: answers.some((answer) => answer !== undefined) }
  }

  #fresh(limit: number): ClaimedWord[] {
    const fresh: ClaimedWord[] = []
    for (const sourceNetwork of this.#sources()) {
      const { below, apart } = this.#comparedOf(sourceNetwork)
      const end = this.#end(sourceNetwork)
      for (let word = below; word < end && fresh.length < limit; word++) fresh.push({ sourceNetwork, word })
      for (const word of this.#wordsApart(sourceNetwork)) {
        if (fresh.length >= limit) return fresh
        if (!apart.has(word)) fresh.push({ sourceNetwork, word })
      }
    }
    return fresh
  }

  #noteCompared({ sourceNetwork, word }: ClaimedWord): void {
    const compared = this.#comparedOf(sourceNetwork)
    // Not for each word below the end: it may have moved up meanwhile, past words that were not compared.
    if (word === compared.below && word < this.#end(sourceNetwork)) compared.below = word + 1
    else compared.apart.add(word)
  }

  #comparedOf(sourceNetwork: NetworkId): Compared {
    let compared = this.#compared.get(sourceNetwork)
    if (compared === undefined) {
      compared = { below: 0, apart: new Set() }
      this.#compared.set(sourceNetwork, compared)
    }
    return compared
  }

  #repeated(count: number): ClaimedWord[] {
    const words: ClaimedWord[] = []
    let isNew = this.#round === undefined
    while (words.length < count) {
      this.#round ??= this.#newestFirst()
      const next = this.#round.next()
      if (!next.done) {
        words.push(next.value)
        continue
      }
      this.#round = undefined
      if (words.length > 0 || isNew) break
      isNew = true
    }
    return words
  }

  *#newestFirst(): Generator<ClaimedWord> {
    for (const sourceNetwork of this.#sources()) {
      for (const word of this.#wordsApart(sourceNetwork)) yield { sourceNetwork, word }
      for (let word = this.#end(sourceNetwork) - 1; word >= 0; word--) yield { sourceNetwork, word }
    }
  }

  /** All source networks but this one: a deposit is never claimed on its own network. */
  #sources(): Set<NetworkId> {
    const { networkId, contractState, indexedDeposits } = this.#options
    const sources = new Set([...indexedDeposits().keys(), ...contractState.claimSources()])
    sources.delete(networkId)
    return sources
  }

  #end(sourceNetwork: NetworkId): number {
    const deposits = this.#options.indexedDeposits().get(sourceNetwork)
    return deposits === undefined ? 0 : endOf(deposits)
  }

  /** Words from the end on that may have stored claims. */
  *#wordsApart(sourceNetwork: NetworkId): Generator<number> {
    let from = this.#end(sourceNetwork)
    for (;;) {
      const words = this.#options.contractState.claimedWordsFrom(sourceNetwork, from)
      if (words.length === 0) return
      yield* words
      from = words.at(-1)! + 1
    }
  }
}

/**
 * The word behind those of the source's deposits, and behind one that its next deposits will be in: so deposits that are indexed one
 * by one need not wait for the comparison of their claims.
 */
function endOf(deposits: number): number {
  return wordsOf(deposits) + 1
}

export interface ClaimComparison {
  readonly difference: ComparedValue | undefined
  readonly isCompared: boolean
}

function hex(word: bigint): string {
  return `0x${word.toString(16).padStart(64, '0')}`
}
