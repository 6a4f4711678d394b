import type { PoolOperation, PoolQueries } from '../query/queries.js'
import { type ContentCoding, contentCodings } from './contentCoding.js'

/**
 * Queries as bytes, as the front sends them to a worker: number of the operation, coding, number of the form, one bit for each field
 * that is present, then these fields. Both ends are the same build, so the format has no version.
 */

type Kind = 'uint32' | 'uint48' | 'boolean' | 'bytes' | 'uint32s' | 'uint48s'

type KindOf<Value> = Value extends boolean
  ? 'boolean'
  : Value extends number
    ? 'uint32' | 'uint48'
    : Value extends Uint8Array
      ? 'bytes'
      : Value extends readonly number[]
        ? 'uint32s' | 'uint48s'
        : never

const paging = {
  pageNumber: 'uint32',
  pageSize: 'uint32',
  skipped: 'uint32',
  isAscending: 'boolean',
  cursor: 'uint48s',
} as const

/** How each field of each query is written. A field that is missing here does not compile. */
const fieldKinds: {
  readonly [K in PoolOperation]: {
    readonly [Field in keyof Required<PoolQueries[K]>]: KindOf<Required<PoolQueries[K]>[Field]>
  }
} = {
  getBridges: {
    networkId: 'uint32',
    sourceNetworks: 'uint32s',
    ...paging,
    depositCounts: 'uint32s',
    fromAddress: 'bytes',
    toAddress: 'bytes',
    transactionHash: 'bytes',
    leafHash: 'bytes',
    networkIds: 'uint32s',
    leafType: 'uint32',
    claimed: 'boolean',
    readyForClaim: 'boolean',
    fromBlock: 'uint48',
    toBlock: 'uint48',
    fromTimestampSec: 'uint48',
    toTimestampSec: 'uint48',
  },
  getClaims: {
    networkId: 'uint32',
    ...paging,
    fromAddress: 'bytes',
    toAddress: 'bytes',
    transactionHash: 'bytes',
    networkIds: 'uint32s',
    globalIndex: 'bytes',
  },
  getClaimProof: {
    networkId: 'uint32',
    depositCount: 'uint32',
    leafIndex: 'uint32',
    globalExitRoot: 'bytes',
    withMetadata: 'boolean',
  },
  getL1InfoTreeIndex: { networkId: 'uint32', depositCount: 'uint32', isFirstCovering: 'boolean' },
  getInjectedL1InfoLeaf: { networkId: 'uint32', leafIndex: 'uint32' },
  getTokenMappings: {
    networkId: 'uint32',
    ...paging,
    tokenAddress: 'bytes',
    tokenNetwork: 'uint32',
    originTokenAddress: 'bytes',
  },
  getClaimTransaction: { networkId: 'uint32', depositCount: 'uint32', leafIndex: 'uint32' },
  getBridgeStatus: { networkId: 'uint32', depositCount: 'uint32', transactionHash: 'bytes' },
  getSearch: { networkId: 'uint32', depositCount: 'uint32', transactionHash: 'bytes', address: 'bytes' },
  readFeed: { networkId: 'uint32', after: 'uint48', limit: 'uint32' },
}

interface Layout {
  readonly operation: PoolOperation
  readonly number: number
  readonly fields: readonly (readonly [name: string, kind: Kind])[]
  /** All fields, each undefined. */
  readonly blank: Readonly<Record<string, unknown>>
}

const layouts: readonly Layout[] = Object.entries(fieldKinds).map(([operation, kinds], number) => ({
  // Object.entries forgets that the keys are operation ids.
  operation: operation as PoolOperation,
  number,
  fields: Object.entries(kinds) as [string, Kind][],
  blank: Object.fromEntries(Object.keys(kinds).map((name) => [name, undefined])),
}))

const MAX_FIELDS = Math.max(...layouts.map(({ fields }) => fields.length))

const layoutOf = new Map(layouts.map((layout) => [layout.operation, layout]))

/** A query and its operation. */
export interface NamedQuery {
  readonly operation: PoolOperation
  readonly query: PoolQueries[PoolOperation]
  /** Coding of the answer, if compression is worth it. */
  readonly coding: ContentCoding
  /** How the answer is spelled: a place in `dialectForms`; absent: as our own API does. */
  readonly form?: number | undefined
  /** Whether the answer goes out without its body, so that a success is not compressed, and only its tag is handed over; default false. */
  readonly isBodiless?: boolean
  /** Whether nobody wants the tag either, so that a success is not even written; only where `isBodiless`. Default false. */
  readonly isTagless?: boolean
}

/** Set beside the number of the coding. */
const BODILESS = 0x80
const TAGLESS = 0x40

/** Operation u8, coding u8, form u8, presence of the fields u32. */
const HEAD_BYTES = 7
/** The form of our own API. */
const OWN_FORM = 0xff
/** Longest field that is not a list: `bytes` are addresses, hashes and cursors behind a length u8. */
const FIELD_BYTES = 256

/** Writes the queries of a batch into memory that grows as needed and is reused for every batch. */
export class QueryWriter {
  private bytes = new Uint8Array(4096)
  private view = new DataView(this.bytes.buffer)
  private length = 0

  append({ operation, query, coding, form = OWN_FORM, isBodiless, isTagless }: NamedQuery): void {
    const layout = layoutOf.get(operation)!
    // The table above covers exactly the fields of this query's type.
    const values = query as unknown as Readonly<Record<string, unknown>>
    this.reserve(HEAD_BYTES + FIELD_BYTES * layout.fields.length)
    const head = this.length
    let presence = 0
    this.length += HEAD_BYTES
    for (let index = 0; index < layout.fields.length; index++) {
      const [name, kind] = layout.fields[index]!
      const value = values[name]
      if (value === undefined) continue
      presence |= 1 << index
      this.appendField(kind, value)
    }
    this.view.setUint8(head, layout.number)
    const unwanted = (isBodiless === true ? BODILESS : 0) | (isTagless === true ? TAGLESS : 0)
    this.view.setUint8(head + 1, contentCodings.indexOf(coding) | unwanted)
    this.view.setUint8(head + 2, form)
    this.view.setUint32(head + 3, presence)
  }

  /** @returns the queries appended since the last call, valid until the next `append`. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length)
    this.length = 0
    return taken
  }

  private appendField(kind: Kind, value: unknown): void {
    switch (kind) {
      case 'uint32':
        this.view.setUint32(this.length, value as number)
        this.length += 4
        return
      case 'boolean':
        this.view.setUint8(this.length++, value === true ? 1 : 0)
        return
      case 'uint48':
        this.view.setFloat64(this.length, value as number)
        this.length += 8
        return
      case 'bytes': {
        const bytes = value as Uint8Array
        this.view.setUint8(this.length++, bytes.length)
        this.bytes.set(bytes, this.length)
        this.length += bytes.length
        return
      }
      case 'uint48s': {
        const numbers = value as readonly number[]
        this.view.setUint8(this.length++, numbers.length)
        for (const number of numbers) {
          this.view.setFloat64(this.length, number)
          this.length += 8
        }
        return
      }
      case 'uint32s': {
        const numbers = value as readonly number[]
        this.reserve(2 + 4 * numbers.length + FIELD_BYTES * MAX_FIELDS)
        this.view.setUint16(this.length, numbers.length)
        this.length += 2
        for (const number of numbers) {
          this.view.setUint32(this.length, number)
          this.length += 4
        }
      }
    }
  }

  private reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return
    const grown = new Uint8Array(2 * this.bytes.length + size)
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }
}

/**
 * All queries of a batch, in order. Bytes are copied, because `batch` may be shared memory, which not all code accepts. Absent
 * fields are undefined rather than missing: all queries of an operation have one shape, so that V8 reads their fields fast.
 */
export function decodeQueries(batch: Uint8Array): NamedQuery[] {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.length)
  const queries: NamedQuery[] = []
  let at = 0
  while (at < batch.length) {
    const layout = layouts[view.getUint8(at)]!
    const wanted = view.getUint8(at + 1)
    const form = view.getUint8(at + 2)
    const presence = view.getUint32(at + 3)
    at += HEAD_BYTES
    const values: Record<string, unknown> = { ...layout.blank }
    for (let rest = presence; rest !== 0; rest &= rest - 1) {
      const [name, kind] = layout.fields[31 - Math.clz32(rest & -rest)]!
      switch (kind) {
        case 'uint32':
          values[name] = view.getUint32(at)
          at += 4
          break
        case 'boolean':
          values[name] = view.getUint8(at) === 1
          at += 1
          break
        case 'uint48':
          values[name] = view.getFloat64(at)
          at += 8
          break
        case 'bytes': {
          const length = view.getUint8(at)
          values[name] = batch.slice(at + 1, at + 1 + length)
          at += 1 + length
          break
        }
        case 'uint48s': {
          const count = view.getUint8(at)
          values[name] = Array.from({ length: count }, (_, item) => view.getFloat64(at + 1 + 8 * item))
          at += 1 + 8 * count
          break
        }
        case 'uint32s': {
          const count = view.getUint16(at)
          values[name] = Array.from({ length: count }, (_, item) => view.getUint32(at + 2 + 4 * item))
          at += 2 + 4 * count
        }
      }
    }
    queries.push({
      operation: layout.operation,
      query: values as unknown as PoolQueries[PoolOperation],
      coding: contentCodings[wanted & ~(BODILESS | TAGLESS)]!,
      ...(form === OWN_FORM ? {} : { form }),
      isBodiless: (wanted & BODILESS) !== 0,
      isTagless: (wanted & TAGLESS) !== 0,
    })
  }
  return queries
}
