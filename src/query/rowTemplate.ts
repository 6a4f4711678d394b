import { isInnerRecord, type Kind, type RecordDefinition } from './recordFields.js'

/** How a value is spelled in JSON. */
export type Encoding =
  /** `"0x…"`, lower case. */
  | 'hex'
  /** `"0x…"`, EIP-55. */
  | 'checksum'
  | 'number'
  /** A uint256 as digits in quotes: as a JSON number readers would round it. */
  | 'digits'
  | 'boolean'
  | 'text'
  /** A list of `"0x…"`, one for each node of a branch. */
  | 'nodes'
  /** As whoever writes the record says. */
  | 'record'

/** One field of a spelled record. */
interface TemplatePart {
  /** Its name in JSON. */
  readonly key: string
  /** Its name in the record's definition. */
  readonly field: string
  readonly encoding: Encoding
  /** Left out where a record lacks it. Stored bytes never have it. */
  readonly isOptional: boolean
}

/**
 * How a record is spelled: which of its fields, under which keys, in which order and encoding. A route has one for the rows of its
 * list and hands it down with each query; shards and the row writer know templates and nothing of the API that they are of.
 */
export type RowTemplate = readonly TemplatePart[]

const encodings: { readonly [K in Kind]: Encoding } = {
  hash: 'hex',
  address: 'checksum',
  amount: 'digits',
  bytes: 'hex',
  branch: 'nodes',
  uint8: 'number',
  uint32: 'number',
  count: 'number',
  networkId: 'number',
  depositCount: 'number',
  l1InfoTreeIndex: 'number',
  blockNumber: 'number',
  unixSeconds: 'number',
  boolean: 'boolean',
  onlyFalse: 'boolean',
  text: 'text',
}

/** The template of our own API: all fields, in the order of the definition. */
export function templateOf({ fields }: RecordDefinition): RowTemplate {
  return Object.entries(fields).map(([name, field]) =>
    isInnerRecord(field)
      ? { key: field.wire, field: name, encoding: 'record', isOptional: field.isOptional === true }
      : {
          key: field.wire,
          field: name,
          encoding: encodings[field.kind],
          isOptional: field.isOptional === true,
        },
  )
}
