import type { ClaimOrdinal } from '../../protocol/units.js'
import { CLAIM_LINK_BYTES, decodeClaimLink, encodeClaimLink } from '../../store/layout/claimRow.js'
import { uint32PairKey } from '../../store/layout/keys.js'
import { CLAIM_LINKS_PER_CHUNK } from '../../store/layout/tables.js'
import type { WriteView } from '../../store/shardStore.types.js'

interface OpenChunk {
  readonly key: Uint8Array
  readonly bytes: Uint8Array
  /** Bytes up to the last deposit that was ever claimed. */
  usedBytes: number
  isDirty: boolean
}

/** Chunks kept open, 4 KB each. */
const CAPACITY = 1_000

/** The claim in force of each deposit, inside one transaction. Chunks stay open, since claims come roughly in the order of deposits. */
export class ClaimLinks {
  readonly #view: WriteView
  /** By source network, then by chunk number. */
  readonly #open = new Map<number, Map<number, OpenChunk>>()
  #count = 0

  constructor(view: WriteView) {
    this.#view = view
  }

  /** Ordinal of the claim in force, if any. */
  get(sourceNetwork: number, depositCount: number): ClaimOrdinal | undefined {
    const chunk = this.#chunk(sourceNetwork, depositCount)
    // Unused bytes are zero, which means not claimed.
    return decodeClaimLink(chunk.bytes, offsetOf(depositCount))
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
    for (const chunks of this.#open.values())
      for (const chunk of chunks.values()) {
        if (!chunk.isDirty) continue
        this.#view.put('claimLinks', chunk.key, chunk.bytes.subarray(0, chunk.usedBytes))
        chunk.isDirty = false
      }
    if (this.#count < CAPACITY) return
    this.#open.clear()
    this.#count = 0
  }

  #chunk(sourceNetwork: number, depositCount: number): OpenChunk {
    const number = Math.floor(depositCount / CLAIM_LINKS_PER_CHUNK)
    return this.#open.get(sourceNetwork)?.get(number) ?? this.#read(sourceNetwork, number)
  }

  #read(sourceNetwork: number, number: number): OpenChunk {
    if (this.#count >= CAPACITY) this.flush()
    const key = uint32PairKey(sourceNetwork, number)
    const bytes = new Uint8Array(CLAIM_LINK_BYTES * CLAIM_LINKS_PER_CHUNK)
    const stored = this.#view.get('claimLinks', key)
    if (stored !== undefined) bytes.set(stored)
    const chunk = { key, bytes, usedBytes: stored?.length ?? 0, isDirty: false }
    let chunks = this.#open.get(sourceNetwork)
    if (chunks === undefined) {
      chunks = new Map()
      this.#open.set(sourceNetwork, chunks)
    }
    chunks.set(number, chunk)
    this.#count++
    return chunk
  }
}

function offsetOf(depositCount: number): number {
  return CLAIM_LINK_BYTES * (depositCount % CLAIM_LINKS_PER_CHUNK)
}
