import { FilteredSet, type FilterParts, type RewindFacts } from './filteredSet.js'

/** A set over ten million rows takes 1.3 MB: room for some two dozen of them per worker, or for thousands of small ones. */
const MAX_BYTES = 32 * 1024 * 1024

/** Filtered sets of all shards by what they are made of; those asked for least recently go first. */
export class FilteredSets {
  readonly #sets = new Map<string, { readonly set: FilteredSet; bytes: number }>()
  #bytes = 0

  /** @param key tells shard, rows and filters: equal keys mean equal parts. */
  find(key: string, parts: FilterParts, rewinds: RewindFacts): FilteredSet {
    const kept = this.#sets.get(key)
    const set = kept?.set ?? new FilteredSet()
    // Not in the map while it changes: a read that fails leaves no half of it behind.
    this.#sets.delete(key)
    this.#bytes -= kept?.bytes ?? 0
    set.update(parts, rewinds)
    const bytes = set.sizeBytes
    this.#sets.set(key, { set, bytes })
    this.#bytes += bytes
    for (const [oldest, { bytes: size }] of this.#sets) {
      if (this.#bytes <= MAX_BYTES || oldest === key) break
      this.#sets.delete(oldest)
      this.#bytes -= size
    }
    return set
  }
}
