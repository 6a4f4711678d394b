import type { ClaimOrdinal } from '../../protocol/units.js'
import { CLAIM_LINK_BYTES, decodeClaimLink, encodeClaimLink } from '../../store/codecs/claimLink.js'
import { claimLinkKey } from '../../store/codecs/keys.js'
import type { WriteView } from '../../store/shardStore.types.js'
import { CLAIM_LINKS_PER_CHUNK } from '../../store/tables.js'

interface OpenChunk {
  readonly key: Uint8Array
  readonly bytes: Uint8Array
  /** Up to the last deposit that was ever claimed. */
  usedBytes: number
  isDirty: boolean
}

/** Chunks kept open, 4 KB each. */
const CAPACITY = 1_000

/** Claims in force by deposit, inside one transaction. Claims come roughly in the order of their deposits: chunks stay open. */
export class ClaimLinks {
  readonly #view: WriteView
  /** By source network and chunk number. */
  readonly #open = new Map<string, OpenChunk>()

  constructor(view: WriteView) {
    this.#view = view
  }

  /** Ordinal of the claim in force, if any. */
  get(sourceNetwork: number, depositCount: number): ClaimOrdinal | undefined {
    const chunk = this.#chunk(sourceNetwork, depositCount)
    return decodeClaimLink(chunk.bytes.subarray(0, chunk.usedBytes), offsetOf(depositCount))
  }

  /** @param ordinal undefined: no claim is in force. */
  set(sourceNetwork: number, depositCount: number, ordinal: ClaimOrdinal | undefined): void {
    const chunk = this.#chunk(sourceNetwork, depositCount)
    const offset = offsetOf(depositCount)
    encodeClaimLink(chunk.bytes, offset, ordinal)
    chunk.usedBytes = Math.max(chunk.usedBytes, offset + CLAIM_LINK_BYTES)
    chunk.isDirty = true
  }

  flush(): void {
    for (const chunk of this.#open.values()) {
      if (!chunk.isDirty) continue
      this.#view.put('claimLinks', chunk.key, chunk.bytes.subarray(0, chunk.usedBytes))
      chunk.isDirty = false
    }
    if (this.#open.size >= CAPACITY) this.#open.clear()
  }

  #chunk(sourceNetwork: number, depositCount: number): OpenChunk {
    const text = `${sourceNetwork}:${Math.floor(depositCount / CLAIM_LINKS_PER_CHUNK)}`
    let chunk = this.#open.get(text)
    if (chunk === undefined) {
      if (this.#open.size >= CAPACITY) this.flush()
      const key = claimLinkKey(sourceNetwork, depositCount)
      const bytes = new Uint8Array(CLAIM_LINK_BYTES * CLAIM_LINKS_PER_CHUNK)
      const stored = this.#view.get('claimLinks', key)
      if (stored !== undefined) bytes.set(stored)
      chunk = { key, bytes, usedBytes: stored?.length ?? 0, isDirty: false }
      this.#open.set(text, chunk)
    }
    return chunk
  }
}

function offsetOf(depositCount: number): number {
  return CLAIM_LINK_BYTES * (depositCount % CLAIM_LINKS_PER_CHUNK)
}
