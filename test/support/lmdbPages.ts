import { readFileSync } from 'node:fs'

// The layout of lmdb 3.5.6 (`dependencies/lmdb/libraries/liblmdb/mdb.c`) on a machine with 64 bits; all numbers are little endian.

const HEADER_BYTES = 24
const META_PAGES = 2
const NO_PAGE = 2n ** 64n - 1n
const BIG_DATA = 0x01
const SUB_DATA = 0x02

/** What the pages of a store are used for, as its newest state says. */
export interface PageUse {
  readonly pages: number
  /** Those that lists of free pages name. */
  readonly free: number
  /** One line for each page that has two uses or none. */
  readonly faults: readonly string[]
}

/**
 * Reads a whole file of LMDB without LMDB: the trees of tables, the values in pages of their own, and the lists of free pages.
 * @param path `data.mdb` of a store that nobody writes.
 */
export function pageUseOf(path: string): PageUse {
  const file = readFileSync(path)
  const pageBytes = file.readUInt32LE(HEADER_BYTES + 24)
  const transactionOf = (meta: number) => file.readBigUInt64LE(meta * pageBytes + HEADER_BYTES + 128)
  const meta = (transactionOf(0) > transactionOf(1) ? 0 : 1) * pageBytes + HEADER_BYTES
  const pages = Number(file.readBigUInt64LE(meta + 120)) + 1
  const uses = new Map<number, string>()
  const faults: string[] = []
  const use = (page: number, as: string) => {
    const other = uses.get(page)
    if (other !== undefined) faults.push(`page ${page} is ${as} and ${other}`)
    if (page < META_PAGES || page >= pages) faults.push(`page ${page} of ${pages} is ${as}`)
    uses.set(page, as)
  }

  /** @param onValue told of each value in order; `isTree` when it is the record of a tree. */
  const walk = (tree: Buffer, as: string, onValue: (value: Buffer, isTree: boolean) => void): void => {
    const inPage = (page: number, level: number): void => {
      use(page, as)
      const bytes = file.subarray(page * pageBytes, (page + 1) * pageBytes)
      const nodes = Array.from({ length: bytes.readUInt16LE(20) / 2 }, (_, at) =>
        bytes.subarray(HEADER_BYTES + bytes.readUInt16LE(HEADER_BYTES + 2 * at)),
      )
      for (const node of nodes) {
        if (level > 1) {
          inPage(node.readUIntLE(0, 6), level - 1)
          continue
        }
        const flags = node.readUInt16LE(4)
        const length = node.readUInt32LE(0)
        const value = node.subarray(8 + node.readUInt16LE(6))
        if ((flags & BIG_DATA) === 0) {
          onValue(value.subarray(0, length), (flags & SUB_DATA) !== 0)
          continue
        }
        const first = Number(value.readBigUInt64LE(0))
        const count = Number(value.readBigUInt64LE(16))
        for (let one = first; one < first + count; one++) use(one, `${as}, a long value`)
        const start = first * pageBytes + HEADER_BYTES
        onValue(file.subarray(start, start + length), false)
      }
    }
    const root = tree.readBigUInt64LE(40)
    if (root !== NO_PAGE) inPage(Number(root), tree.readUInt16LE(6))
  }

  let free = 0
  walk(file.subarray(meta + 24, meta + 72), 'of the free list', (list) => {
    const entry = (at: number) => Number(list.readBigInt64LE(8 * at))
    for (let at = 1; at <= entry(0); at++) {
      // lmdb-js's own: a negative number is the length of a run of pages, whose first one follows; zeros are gaps.
      const isRun = entry(at) < 0
      const length = isRun ? -entry(at++) : 1
      const first = entry(at)
      if (first === 0) continue
      for (let page = first; page < first + length; page++) use(page, 'free')
      free += length
    }
  })
  walk(file.subarray(meta + 72, meta + 120), 'of the tables', (value, isTree) => {
    if (isTree) walk(value, 'of a table', () => undefined)
  })
  for (let page = META_PAGES; page < pages; page++)
    if (!uses.has(page)) faults.push(`page ${page} has no use`)
  return { pages, free, faults }
}
