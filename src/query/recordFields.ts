import type { Hash } from '../protocol/chainEvent.js'
import type { ChecksumAddress } from '../protocol/checksumAddress.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../protocol/units.js'

/**
 * What a record definition is made of. Everything that tells of a record follows from its definition: the type here, the JSON
 * Schema, OpenAPI, the tables of the documents, and how rows are written.
 */

/** Kinds of fields: what the value is in the service. Schemas and writers have a line for each kind. */
interface KindValues {
  /** 32 bytes. */
  readonly hash: Hash
  readonly address: ChecksumAddress
  /** 32 bytes, big-endian, base units. */
  readonly amount: Uint8Array
  /** Of any length. */
  readonly bytes: Uint8Array
  /** 32 nodes of 32 bytes, leaf level first. */
  readonly branch: Uint8Array
  readonly uint8: number
  readonly uint32: number
  /** Any safe integer from 0 on. */
  readonly count: number
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
  readonly l1InfoTreeIndex: L1InfoTreeIndex
  readonly blockNumber: BlockNumber
  readonly unixSeconds: number
  readonly boolean: boolean
  /** Only ever false, or absent. */
  readonly onlyFalse: false
  readonly text: string
}

export type Kind = keyof KindValues

/** One field of a record. Its key in the definition is the protocol's name for it. */
export interface Field {
  /** Its name in JSON. */
  readonly wire: string
  readonly kind: Kind
  readonly isNullable?: true
  /** Most records lack it (undefined). Rows that have it are written from a record, never from stored bytes. */
  readonly isOptional?: true
  /** Limits of a number that are narrower than its kind. */
  readonly minimum?: number
  readonly maximum?: number
  readonly description: string
}

/** A record within a record. */
export interface InnerRecord {
  readonly wire: string
  readonly record: RecordDefinition
}

export interface RecordDefinition {
  /** Name of the OpenAPI component. */
  readonly title: string
  readonly description: string
  /** In the order of the wire. */
  readonly fields: Readonly<Record<string, Field | InnerRecord>>
}

type ValueOf<F> = F extends { readonly record: infer D extends RecordDefinition }
  ? RecordOf<D>
  : F extends { readonly kind: infer K extends Kind }
    ?
        | KindValues[K]
        | (F extends { readonly isNullable: true } ? null : never)
        | (F extends { readonly isOptional: true } ? undefined : never)
    : never

/** The record that a definition tells of. Bytes are valid until the end of the task that made it. */
export type RecordOf<D extends RecordDefinition> = {
  readonly [Name in keyof D['fields']]: ValueOf<D['fields'][Name]>
}

export function isInnerRecord(field: Field | InnerRecord): field is InnerRecord {
  return 'record' in field
}
