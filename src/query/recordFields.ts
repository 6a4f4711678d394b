import type { Hash } from '../protocol/chainEvent.js'
import type { ChecksumAddress } from '../protocol/checksumAddress.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../protocol/units.js'
import type { HealthReason, ServiceStatus } from './healthReasons.js'

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
  /** Of a text: the only ones that it may be. */
  readonly words?: readonly string[]
  /** Limits of a number that are narrower than its kind. */
  readonly minimum?: number
  readonly maximum?: number
  readonly description: string
}

/** A record within a record. */
export interface InnerRecord {
  readonly wire: string
  readonly record: RecordDefinition
  /** A list of such records. */
  readonly isList?: true
  readonly isNullable?: true
  readonly isOptional?: true
}

export interface RecordDefinition {
  /** Name of the OpenAPI component. */
  readonly title: string
  readonly description: string
  /** In the order of the wire. */
  readonly fields: Readonly<Record<string, Field | InnerRecord>>
}

type ItemOf<F> = F extends { readonly record: infer D extends RecordDefinition }
  ? RecordOf<D>
  : F extends { readonly words: readonly (infer Word)[] }
    ? Word
    : F extends { readonly kind: infer K extends Kind }
      ? KindValues[K]
      : never

type ValueOf<F> =
  | (F extends { readonly isList: true } ? readonly ItemOf<F>[] : ItemOf<F>)
  | (F extends { readonly isNullable: true } ? null : never)
  | (F extends { readonly isOptional: true } ? undefined : never)

/** The record that a definition tells of. Bytes are valid until the end of the task that made it. */
export type RecordOf<D extends RecordDefinition> = {
  readonly [Name in keyof D['fields']]: ValueOf<D['fields'][Name]>
}

/*
 * What the front answers from memory is JSON from the start: a field's key is its name there, numbers have no brands, and lists may be
 * within. Rows are never of these kinds, so their writer has no line for them. Schemas and tables are made of both sorts of records.
 */

interface JsonKindValues {
  readonly seconds: number
  /** ISO 8601, UTC. */
  readonly isoTime: string
  /** Like `2h15m30s`: hours may exceed 24, nothing is padded. */
  readonly duration: string
  /** Three numbers with dots between them. */
  readonly version: string
  readonly serviceStatus: ServiceStatus
  readonly healthReason: HealthReason
}

export type JsonKind = Kind | keyof JsonKindValues

export interface JsonField extends Omit<Field, 'wire' | 'kind'> {
  /** Only where it is another name than the key: in records that rows are written from. */
  readonly wire?: string
  readonly kind: JsonKind
  /** A list of such values. One that is optional is absent instead of empty. */
  readonly isList?: true
}

export interface JsonInnerRecord {
  readonly wire?: string
  readonly record: JsonRecordDefinition
  readonly isList?: true
  readonly isNullable?: true
  readonly isOptional?: true
}

export interface JsonRecordDefinition extends Omit<RecordDefinition, 'fields'> {
  /** In the order of the wire. */
  readonly fields: Readonly<Record<string, JsonField | JsonInnerRecord>>
}

type JsonValueOf<K> = K extends keyof JsonKindValues
  ? JsonKindValues[K]
  : K extends Kind
    ? KindValues[K] extends number
      ? number
      : KindValues[K] extends boolean
        ? KindValues[K]
        : string
    : never

type JsonItemOf<F> = F extends { readonly record: infer D extends JsonRecordDefinition }
  ? JsonRecordOf<D>
  : F extends { readonly kind: infer K }
    ? JsonValueOf<K>
    : never

type JsonFieldOf<F> =
  | (F extends { readonly isList: true } ? readonly JsonItemOf<F>[] : JsonItemOf<F>)
  | (F extends { readonly isNullable: true } ? null : never)

type OptionalNames<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly isOptional: true } ? Name : never
}[keyof Fields]

/** The record that a definition tells of, as in JSON. */
export type JsonRecordOf<D extends JsonRecordDefinition> = {
  readonly [Name in Exclude<keyof D['fields'], OptionalNames<D['fields']>>]: JsonFieldOf<D['fields'][Name]>
} & {
  readonly [Name in OptionalNames<D['fields']>]?: JsonFieldOf<D['fields'][Name]>
}

export function isInnerRecord<F extends object>(field: F): field is Extract<F, { readonly record: unknown }> {
  return 'record' in field
}
