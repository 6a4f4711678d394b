import type { OperationId, QueryByOperation } from '../protocol/queries.js'
import { type ContentCoding, contentCodings } from './contentCoding.js'

/**
 * Queries as bytes, for the way into a worker: operation number, coding, a bit per field that is there, then the fields.
 * Both ends are the same build, so there is no version.
 */

type Kind = 'uint32' | 'boolean' | 'address' | 'uint32s'

type KindOf<Value> = Value extends boolean
  ? 'boolean'
  : Value extends number
    ? 'uint32'
    : Value extends Uint8Array
      ? 'address'
      : Value extends readonly number[]
        ? 'uint32s'
        : never

/** Every field of every query: one that is missing here does not compile. */
const fieldKinds: {
  readonly [K in OperationId]: {
    readonly [Field in keyof Required<QueryByOperation[K]>]: KindOf<Required<QueryByOperation[K]>[Field]>
  }
} = {
  getBridges: {
    networkId: 'uint32',
    pageNumber: 'uint32',
    pageSize: 'uint32',
    depositCount: 'uint32',
    fromAddress: 'address',
    networkIds: 'uint32s',
    readyForClaim: 'boolean',
  },
  getClaims: { networkId: 'uint32', pageNumber: 'uint32', pageSize: 'uint32', fromAddress: 'address' },
  getClaimProof: { networkId: 'uint32', depositCount: 'uint32', leafIndex: 'uint32' },
  getL1InfoTreeIndex: { networkId: 'uint32', depositCount: 'uint32' },
  getTokenMappings: {
    networkId: 'uint32',
    pageNumber: 'uint32',
    pageSize: 'uint32',
    tokenAddress: 'address',
    tokenNetwork: 'uint32',
  },
  getClaimTransaction: { networkId: 'uint32', depositCount: 'uint32', leafIndex: 'uint32' },
}

interface Layout {
  readonly operation: OperationId
  readonly number: number
  readonly fields: readonly (readonly [name: string, kind: Kind])[]
}

const layouts: readonly Layout[] = Object.entries(fieldKinds).map(([operation, kinds], number) => ({
  // Object.entries forgets that the keys are operation ids.
  operation: operation as OperationId,
  number,
  fields: Object.entries(kinds) as [string, Kind][],
}))

const layoutOf = new Map(layouts.map((layout) => [layout.operation, layout]))

/** Any query with its operation. */
export interface NamedQuery {
  readonly operation: OperationId
  readonly query: QueryByOperation[OperationId]
  /** Coding of the answer, where it is worth it. */
  readonly coding: ContentCoding
}

const HEAD_BYTES = 4
const ADDRESS_BYTES = 20

/** Bytes that grow as queries are appended; one per sender, used again for every batch. */
export class QueryWriter {
  private bytes = new Uint8Array(4096)
  private view = new DataView(this.bytes.buffer)
  private length = 0

  append({ operation, query, coding }: NamedQuery): void {
    const layout = layoutOf.get(operation)!
    // The table above covers exactly the fields of this query's type.
    const values = query as unknown as Readonly<Record<string, unknown>>
    this.reserve(HEAD_BYTES + ADDRESS_BYTES * layout.fields.length)
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
    this.view.setUint8(head + 1, contentCodings.indexOf(coding))
    this.view.setUint16(head + 2, presence)
  }

  /** What was appended, in an ArrayBuffer of its own (never a slab that others share); the writer starts anew. */
  take(): ArrayBuffer {
    const taken = this.bytes.buffer.slice(0, this.length)
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
      case 'address':
        this.bytes.set(value as Uint8Array, this.length)
        this.length += ADDRESS_BYTES
        return
      case 'uint32s': {
        const numbers = value as readonly number[]
        this.reserve(2 + 4 * numbers.length + ADDRESS_BYTES * 16)
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

/** All queries of a batch, in order. Addresses are views of `batch`. */
export function decodeQueries(batch: ArrayBuffer): NamedQuery[] {
  const view = new DataView(batch)
  const queries: NamedQuery[] = []
  let at = 0
  while (at < batch.byteLength) {
    const layout = layouts[view.getUint8(at)]!
    const coding = contentCodings[view.getUint8(at + 1)]!
    const presence = view.getUint16(at + 2)
    at += HEAD_BYTES
    const values: Record<string, unknown> = {}
    for (let index = 0; index < layout.fields.length; index++) {
      if ((presence & (1 << index)) === 0) continue
      const [name, kind] = layout.fields[index]!
      switch (kind) {
        case 'uint32':
          values[name] = view.getUint32(at)
          at += 4
          break
        case 'boolean':
          values[name] = view.getUint8(at) === 1
          at += 1
          break
        case 'address':
          values[name] = new Uint8Array(batch, at, ADDRESS_BYTES)
          at += ADDRESS_BYTES
          break
        case 'uint32s': {
          const count = view.getUint16(at)
          values[name] = Array.from({ length: count }, (_, item) => view.getUint32(at + 2 + 4 * item))
          at += 2 + 4 * count
        }
      }
    }
    queries.push({
      operation: layout.operation,
      query: values as unknown as QueryByOperation[OperationId],
      coding,
    })
  }
  return queries
}
