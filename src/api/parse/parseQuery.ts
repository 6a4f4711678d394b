import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Answer, type Failure, failure, success } from '../../query/answers.js'
import { type Cursor, filterHash } from '../../query/cursor.js'
import type { OperationId } from '../../query/queries.js'
import { networkNotServed } from '../../query/refusals.js'
import { readCursor } from './checkQuery.js'
import { KnownNames } from './nearName.js'
import { MAX_LISTED, patternWords } from './querySchemas.js'
import { MAX_PARAMETERS, splitQueryString } from './queryString.js'

// The schemas are not held against the schema of schemas, which costs a start more than all of them: a test does that.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, meta: false, validateSchema: false })

/** Compiles a schema, at start only: compiling is slow, validating is not. */
export function compileSchema(schema: TSchema): ValidateFunction {
  return ajv.compile(schema)
}

interface ParsedQuery<Query> {
  readonly query: Query
  /**
   * Equal for all spellings of one query, whatever the order of its parameters, the letter case of addresses, defaults that are written
   * out, and unknown parameters. Made anew at each access.
   */
  readonly key: string
}

class Parsed<Query> implements ParsedQuery<Query> {
  readonly query: Query
  private readonly wire: Readonly<Record<string, unknown>>
  private readonly names: readonly string[]

  constructor(query: Query, wire: Readonly<Record<string, unknown>>, names: readonly string[]) {
    this.query = query
    this.wire = wire
    this.names = names
  }

  get key(): string {
    let key = ''
    // Values are separated by semicolons, since lists have commas inside.
    for (const name of this.names) key += `${String(this.wire[name] ?? '')};`
    return key
  }
}

/** Turns a raw query string (without `?`) into a typed query, or into the 400 that tells what is wrong with it. */
export type QueryParser<Query> = (raw: string) => Answer<ParsedQuery<Query>>

type Kind = 'integer' | 'boolean' | 'text' | 'integers'

interface Parameter {
  readonly name: string
  readonly kind: Kind
  readonly fallback: unknown
}

const ZERO = 0x30

/** Numbers of up to so many digits are exact in a double. Longer ones are above every maximum. */
const MAX_EXACT_DIGITS = 15

const MAX_QUOTED = 60

/** Most parameters that the route does not have. Tracing and cache busting add a few. */
const MAX_STRANGE = 24

/** What the parser reads of a route. */
export interface ParsedRoute<Parameters extends TObject, Query> {
  /** Schema of the query under its wire names. */
  readonly parameters: Parameters
  /** Wire names and text → the typed query that the shard answers. @param cursor where a list goes on. */
  toQuery(wire: Static<Parameters>, cursor?: Cursor): Query
  /**
   * What no schema says: rules between parameters.
   * @param given what was in the query string, without defaults.
   * @returns what is wrong, or undefined.
   */
  check?(given: Readonly<Record<string, unknown>>): string | undefined
}

/**
 * Builds the parser of one route. The text is matched by our own rules first, because coercion by a validator takes
 * `0x10`, `1e3` and ` 7 ` for integers; the validator then checks ranges and what is required.
 * @param servedNetworks ids that `network_id` may have.
 * @param operation the route's operation: a cursor of another one is refused. undefined for a route without cursors.
 */
export function createQueryParser<Parameters extends TObject, Query extends object>(
  route: ParsedRoute<Parameters, Query>,
  servedNetworks: ReadonlySet<number>,
  operation?: OperationId,
): QueryParser<Query> {
  const { parameters } = route
  const known = Object.entries(parameters.properties).map(
    ([name, schema]): Parameter => ({ name, kind: kindOf(schema), fallback: schema.default }),
  )
  const byName = new Map(known.map((parameter) => [parameter.name, parameter]))
  const names = known.map((parameter) => parameter.name)
  const lists = known.filter(({ kind }) => kind === 'integers').map(({ name }) => name)
  const withFallback = known.filter((parameter) => parameter.fallback !== undefined)
  const knownNames = new KnownNames(names)
  const validate = compileSchema(parameters)

  return (raw) => {
    const pieces = splitQueryString(raw)
    if (pieces === 'too many') return invalid(`the query has more than ${MAX_PARAMETERS} parameters`)
    if ('malformed' in pieces)
      return invalid(`${quote(pieces.malformed)} is not percent-encoded UTF-8 in the query string`)
    const wire: Record<string, unknown> = {}
    let strange: string[] | undefined
    for (const piece of pieces) {
      const parameter = byName.get(piece.name)
      if (parameter === undefined) {
        strange ??= []
        if (strange.length === MAX_STRANGE)
          return invalid(`the query has more than ${MAX_STRANGE} unknown parameters`)
        strange.push(piece.name)
        continue
      }
      const problem = read(parameter, piece.value, wire)
      if (problem !== undefined) return invalid(problem)
    }
    // Only now, when the whole query was read: a misspelled name is ignored if the right one is given as well.
    for (const name of strange ?? []) {
      const problem = knownNames.complaint(name, wire)
      if (problem !== undefined) return invalid(problem)
    }
    for (const name of lists) sortList(wire[name])
    const given = route.check === undefined && wire.cursor === undefined ? wire : { ...wire }
    for (const { name, fallback } of withFallback) wire[name] ??= fallback
    if (!validate(wire)) return invalid(explain(validate.errors?.[0], wire))
    const networkId = wire.network_id
    if (typeof networkId === 'number' && !servedNetworks.has(networkId)) return networkNotServed(networkId)
    const problem = route.check?.(given)
    if (problem !== undefined) return invalid(problem)
    const cursor = typeof wire.cursor === 'string' ? readCursor(wire.cursor, given) : undefined
    if (typeof cursor === 'string') return invalid(cursor)
    // The validator has just checked that `wire` is what the schema's static type says.
    const query = route.toQuery(wire as Static<Parameters>, cursor)
    if (cursor !== undefined && operation !== undefined && cursor.filterHash !== filterHash(operation, query))
      return invalid('cursor is of a query with other filters: repeat them, or start again without it')
    return success(new Parsed(query, wire, names))
  }
}

function kindOf(schema: TSchema): Kind {
  switch (schema.type) {
    case 'integer':
      return 'integer'
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'text'
    case 'array':
      return 'integers'
    default:
      throw new TypeError(`a query parameter of type ${String(schema.type)} has no text form`)
  }
}

/** Puts a value into `wire`. @returns what is wrong with it, or undefined. */
function read(parameter: Parameter, value: string, wire: Record<string, unknown>): string | undefined {
  // The schema's own string, not the equal one from the query: V8 finds a property faster by a string that it has interned.
  const { name } = parameter
  // A list may also be written by repeating its parameter.
  if (wire[name] !== undefined && parameter.kind !== 'integers')
    return `${name} is given more than once, at most one is allowed`
  if (parameter.kind === 'integers') {
    const list = (wire[name] as number[] | undefined) ?? []
    for (const item of value.includes(',') ? value.split(',') : [value]) {
      const number = readDigits(item)
      if (number === undefined) return `${name} ${quote(item)} is not a decimal integer`
      // A list that is too long already is refused: comparing the rest would take time for nothing.
      if (list.length > MAX_LISTED || !list.includes(number)) list.push(number)
    }
    wire[name] = list
    return undefined
  }
  switch (parameter.kind) {
    case 'integer': {
      const number = readDigits(value)
      if (number === undefined) return `${name} ${quote(value)} is not a decimal integer`
      wire[name] = number
      return undefined
    }
    case 'boolean':
      if (value !== 'true' && value !== 'false') return `${name} ${quote(value)} is not true or false`
      wire[name] = value === 'true'
      return undefined
    case 'text':
      // Hexadecimal texts have one spelling from here on. `0X…` stays as it is: it is refused.
      wire[name] = value.startsWith('0x') ? value.toLowerCase() : value
      return undefined
  }
}

/** @param list numbers, or undefined. One that is too long is refused, so its order does not matter. */
function sortList(list: unknown): void {
  if (Array.isArray(list) && list.length > 1 && list.length <= MAX_LISTED)
    list.sort((left: number, right: number) => left - right)
}

/**
 * Decimal digits without a leading zero; anything else is undefined. A regular expression and `Number` are two calls out of
 * compiled code, and took a sixth of a query's parsing (November 2026, Node 20).
 */
function readDigits(text: string): number | undefined {
  const { length } = text
  if (length === 0 || (length > 1 && text.charCodeAt(0) === ZERO)) return undefined
  let number = 0
  for (let at = 0; at < length; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return undefined
    number = 10 * number + digit
  }
  return length > MAX_EXACT_DIGITS ? Number.MAX_SAFE_INTEGER : number
}

/** One sentence from the validator's first complaint: parameter, value, limit. */
function explain(error: ErrorObject | undefined, wire: Readonly<Record<string, unknown>>): string {
  if (error === undefined) return 'the query is not valid'
  if (error.keyword === 'required') return `${String(error.params.missingProperty)} is required`
  const [, name = '', position] = error.instancePath.split('/')
  const whole = wire[name]
  const value = position !== undefined && Array.isArray(whole) ? whole[Number(position)] : whole
  switch (error.keyword) {
    case 'minimum':
      return `${name} ${String(value)} is below ${error.params.limit}`
    case 'maximum':
      return value === Number.MAX_SAFE_INTEGER
        ? `${name} exceeds ${error.params.limit}`
        : `${name} ${String(value)} exceeds ${error.params.limit}`
    case 'maxItems':
      return `${name} has ${Array.isArray(whole) ? whole.length : 0} items, at most ${error.params.limit} are allowed`
    case 'pattern':
      return `${name} ${quote(String(value))} ${patternWords.get(String(error.params.pattern)) ?? 'is malformed'}`
    case 'enum':
      return `${name} ${quote(String(value))} is not ${error.params.allowedValues.join(' or ')}`
    default:
      return `${name} ${error.message ?? 'is not valid'}`
  }
}

function invalid(message: string): Failure {
  return failure('INVALID_PARAMETER', message)
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text)
}
