import { Ajv, type DefinedError } from 'ajv'
import { nearestName } from '../errors/nearestName.js'
import type { KeySchema } from './configKeys.js'
import { isTable, type RawTable, type ValueSources } from './layers.js'
import { ConfigFile } from './schema.js'

/**
 * For a validator that runs once, at each start: making it from the schema takes most of the time. The schema is our own, which the
 * tests check, and shorter code would not pay.
 */
const ONCE = { meta: false, validateSchema: false, code: { optimize: false } } as const

const check = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  strict: true,
  keywords: ['unit'],
  ...ONCE,
}).compile<ConfigFile>(ConfigFile)

/** Finds every mistake in the types, limits and names in `table`, and fills in the defaults. */
export function validateTable(table: RawTable, sources: ValueSources): string[] {
  if (check(table)) return []
  // A value that breaks several rules of a key is reported once, with everything that the key expects.
  const errors = (check.errors as DefinedError[]).filter(({ schemaPath }) => !schemaPath.includes('/anyOf/'))
  const mistakes = errors.map((error) => {
    const at = spellPath(table, error.instancePath)
    switch (error.keyword) {
      case 'additionalProperties':
        return unknownKey(at, error.params.additionalProperty, error.parentSchema as KeySchema)
      case 'required':
        return `${join(at, error.params.missingProperty)} is missing`
      default:
        return badValue(at, error.data, error.parentSchema as KeySchema, sources)
    }
  })
  return [...new Set(mistakes)]
}

function unknownKey(at: string, name: string, schema: KeySchema): string {
  const known = Object.keys(schema.properties ?? {})
  const nearest = nearestName(name, known)
  const advice = nearest === undefined ? `known here: ${known.join(', ')}` : `did you mean ${nearest}?`
  return `unknown key ${join(at, name)}: ${advice}`
}

/** Paths of values that may hold secrets: addresses below `rpc` and of a cluster, API keys, and networks that are not tables. */
const MAY_HOLD_SECRETS = /\.rpc\b|^networks(\[\d+\])?$|\.api_keys\b|^cluster\.servers\b/
const IS_ROLE = /\.rpc\[\d+\]\.role\b/

function badValue(at: string, value: unknown, schema: KeySchema, sources: ValueSources): string {
  const source = sources.get(at.replace(/ \(network \d+\)/, ''))
  const from = source === undefined ? '' : `, from ${source}`
  return `${at} ${shownValue(at, value, schema)}${from}; expected ${expectation(schema)}`
}

function shownValue(at: string, value: unknown, schema: KeySchema): string {
  if (schema.type === 'array' && Array.isArray(value))
    return value.length === 0 ? 'is empty' : `has ${value.length} entries`
  const isHidden = MAY_HOLD_SECRETS.test(at) && !IS_ROLE.test(at) && typeof value !== 'number'
  return `is ${isHidden ? kindOf(value) : spellValue(value)}`
}

/** What kind of value it is, without showing any of it. */
function kindOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (isTable(value)) return 'a table'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  return value instanceof Date ? 'a date' : `a ${typeof value}`
}

function spellValue(value: unknown): string {
  if (typeof value === 'object') return kindOf(value)
  // JSON knows no infinity.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** What a key expects, in words. */
function expectation(schema: KeySchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(expectation).join(' or ')
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return `${schema.enum.slice(0, -1).join(', ')} or ${schema.enum.at(-1)}`
  if (schema.pattern !== undefined) return '0x and 40 hex digits'
  switch (schema.type) {
    case 'integer':
      return `an integer from ${schema.minimum} to ${schema.maximum}`
    case 'number':
      return schema.minimum === undefined
        ? `a number above ${schema.exclusiveMinimum} up to ${schema.maximum}`
        : `a number from ${schema.minimum} to ${schema.maximum}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list of ${schema.minItems} to ${schema.maxItems}`
    case 'object':
      return 'a table'
    default:
      return 'a text that is not empty'
  }
}

/** `/networks/1/chain_id` as `networks[1].chain_id (network 7)`: people know networks by their ids. */
function spellPath(table: RawTable, pointer: string): string {
  const parts = pointer.split('/').slice(1)
  const path = parts
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('')
  const network: unknown =
    parts[0] === 'networks' && Array.isArray(table.networks) ? table.networks[Number(parts[1])] : undefined
  return isTable(network) && typeof network.network_id === 'number'
    ? `${path} (network ${network.network_id})`
    : path
}

/** Appends a key to a path, in front of the `(network 7)` that the path may end with. */
function join(at: string, key: string): string {
  const [path, suffix] = at.split(' (network ')
  return `${path ? `${path}.` : ''}${key}${suffix === undefined ? '' : ` (network ${suffix}`}`
}
