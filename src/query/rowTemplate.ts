import { isInnerRecord, type Kind, type RecordDefinition } from './recordFields.js'

/** How a value is spelled in JSON. */
export type Encoding =
  /** `"0x…"`, lower case. */
  | 'hex'
  /** `"0x…"`, EIP-55. */
  | 'checksum'
  /** The same of an address in lower case. */
  | 'lowerCase'
  | 'number'
  /** The same in quotes, for clients that read numbers of 64 bits so. */
  | 'quotedNumber'
  /** A uint256 as digits in quotes: as a JSON number readers would round it. */
  | 'digits'
  /** A uint256 as a JSON number, for clients that read it whole. */
  | 'bareDigits'
  /** Unix seconds as a number of milliseconds. */
  | 'milliseconds'
  /** The rollup index of a network; 0 for the L1. */
  | 'rollupIndex'
  /** 16 bytes as a ULID: 26 digits of Crockford's base 32. */
  | 'ulid'
  /** The one of the part's `words` that a number names. */
  | 'word'
  | 'boolean'
  | 'text'
  /** A list of `"0x…"`, one for each node of a branch. */
  | 'nodes'
  /** As whoever writes the record says. */
  | 'record'

/** One field of a spelled record. */
export interface FieldPart {
  /** Its name in JSON. */
  readonly key: string
  /** Its name in the record's definition. */
  readonly field: string
  readonly encoding: Encoding
  /** Left out where a record lacks it. Stored bytes never have it. */
  readonly isOptional: boolean
  /** Left out where it is null. Not of the first part. */
  readonly omitsNull?: true
  /** JSON in the place of null. */
  readonly ofNull?: string
  /** JSON of 0, 1 and so on, for the encoding of that name; the last one is also that of all greater numbers. */
  readonly words?: readonly string[]
}

/** A key whose value is the same in every record. */
interface FixedPart {
  readonly key: string
  /** JSON. */
  readonly fixed: string
}

export type TemplatePart = FieldPart | FixedPart

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

export function isFixed(part: TemplatePart): part is FixedPart {
  return 'fixed' in part
}

/** Whether a record is to show a field: some are looked up only then. */
export function showsField(template: RowTemplate, field: string): boolean {
  return template.some((part) => !isFixed(part) && part.field === field)
}
