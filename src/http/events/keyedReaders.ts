import type { ToldEvent } from './eventFilter.js'

/** Readers of one feed, found by the bridges, addresses and destinations that they have asked for. */
export class KeyedReaders<Reader> {
  readonly all = new Set<Reader>()
  readonly #keysOf: (reader: Reader) => readonly string[] | undefined
  readonly #byKey = new Map<string, Set<Reader>>()
  /** Those without keys. */
  readonly #others = new Set<Reader>()

  /** @param keysOf tells the keys of a reader, always the same: `EventFilter.keys`. */
  constructor(keysOf: (reader: Reader) => readonly string[] | undefined) {
    this.#keysOf = keysOf
  }

  add(reader: Reader): void {
    this.all.add(reader)
    const keys = this.#keysOf(reader)
    if (keys === undefined) this.#others.add(reader)
    for (const key of keys ?? []) {
      const readers = this.#byKey.get(key)
      if (readers === undefined) this.#byKey.set(key, new Set([reader]))
      else readers.add(reader)
    }
  }

  delete(reader: Reader): void {
    if (!this.all.delete(reader)) return
    this.#others.delete(reader)
    for (const key of this.#keysOf(reader) ?? []) {
      const readers = this.#byKey.get(key)
      readers?.delete(reader)
      if (readers?.size === 0) this.#byKey.delete(key)
    }
  }

  /** @returns those whose filter may let the event pass; each once. */
  candidates(event: ToldEvent): ReadonlySet<Reader> {
    if (event.subject === undefined) return this.all
    if (this.#byKey.size === 0) return this.#others
    const found = new Set(this.#others)
    for (const key of event.keys()) for (const each of this.#byKey.get(key) ?? []) found.add(each)
    return found
  }
}
