import type { ChainClient } from '../../chain/chainClient.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { ContractState, CurrentMapping } from '../../shard/contractState.types.js'
import type { ComparedValue } from '../recovery/comparedValue.js'

/** Mappings per request until all were compared once: a batch of calls. */
const FRESH_MAPPINGS = 50
/** Mappings per comparison afterwards. */
const REPEATED_MAPPINGS = 10

export interface TokenMappingAuditOptions {
  readonly client: Pick<ChainClient, 'getWrappedTokens'>
  readonly contractState: Pick<ContractState, 'currentMappings'>
}

/**
 * Compares the stored token mappings with the bridge: all of them once after the start, then a few at a time. This finds a
 * mapping that was replaced if the log of that is missing. It does not look for mappings that have no log at all: a bridge may
 * have some from its genesis or initialisation.
 */
export class TokenMappingAudit {
  readonly #options: TokenMappingAuditOptions
  #hasComparedAll = false
  /** The round continues below this mapping's ordinal. */
  #below = Number.POSITIVE_INFINITY

  constructor(options: TokenMappingAuditOptions) {
    this.#options = options
  }

  /** @returns the first difference; undefined for none. */
  async compare(checkpoint: BlockHeader, signal: AbortSignal): Promise<ComparedValue | undefined> {
    const limit = this.#hasComparedAll ? REPEATED_MAPPINGS : FRESH_MAPPINGS
    for (;;) {
      const some = this.#options.contractState.currentMappings(this.#below, limit)
      const difference = await this.#differing(some, checkpoint, signal)
      // The caller compares again at once: so the round stays where it is.
      if (difference !== undefined) return difference
      this.#below = some.length < limit ? Number.POSITIVE_INFINITY : some.at(-1)!.ordinal
      if (some.length < limit) this.#hasComparedAll = true
      if (this.#hasComparedAll) return undefined
    }
  }

  async #differing(
    mappings: readonly CurrentMapping[],
    { number }: BlockHeader,
    signal: AbortSignal,
  ): Promise<ComparedValue | undefined> {
    if (mappings.length === 0) return undefined
    const { client } = this.#options
    const answers = await client.getWrappedTokens(mappings, number, signal)
    const different = mappings.find(({ wrappedTokenAddress }, index) => {
      const theirs = answers[index]
      return theirs !== undefined && encodeHex(theirs) !== encodeHex(wrappedTokenAddress)
    })
    if (different === undefined) return undefined
    return {
      what: `wrapped token of ${encodeHex(different.originTokenAddress)} of network ${different.originNetwork}`,
      reason: 'missing_log',
      ours: () => this.#stored(different),
      ask: async (reads, ...at) => {
        const [theirs] = await reads.getWrappedTokens([different], ...at)
        return theirs && encodeHex(theirs)
      },
    }
  }

  /** @returns undefined when the mapping was replaced meanwhile, or taken back. */
  #stored({ ordinal, originNetwork, originTokenAddress }: CurrentMapping): string | undefined {
    const [now] = this.#options.contractState.currentMappings(ordinal + 1, 1)
    const isSame =
      now?.ordinal === ordinal &&
      now.originNetwork === originNetwork &&
      encodeHex(now.originTokenAddress) === encodeHex(originTokenAddress)
    return isSame ? encodeHex(now.wrappedTokenAddress) : undefined
  }
}
