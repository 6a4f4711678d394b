import { asDepositCount, asNetworkId, type DepositCount, type NetworkId } from '../../../protocol/units.js'
import { type Answer, failure, success } from '../../../query/answers.js'
import type { BridgesQuery } from '../../../query/queries.js'
import type { QueryParser } from '../../parse/parseQuery.js'
import { MAX_PARAMETERS, splitQueryString } from '../../parse/queryString.js'

/** Query strings as services in Go read them: the first of several values counts, unknown names are ignored. */

const UINT32_MAX = 0xffff_ffff
const UINT64_MAX = 2n ** 64n - 1n

/** Wanted name → its values, in their order. */
export type GoParameters = ReadonlyMap<string, readonly string[]>

/** Most parameters with escapes or blanks whose names may be wanted: each is decoded by itself, since others may be malformed. */
const MAX_DECODED = 32

const AMPERSAND = 0x26
const EQUALS = 0x3d
const PERCENT = 0x25
const PLUS = 0x2b

/** The names that the endpoints of a dialect read: ASCII letters, fewer than 32 of them. */
export class WantedNames {
  readonly #names: ReadonlySet<string>
  /** A bit for each length. */
  readonly #lengths: number

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
    this.#lengths = names.reduce((bits, { length }) => bits | (1 << length), 0)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  hasLength(length: number): boolean {
    return length < 32 && ((this.#lengths >>> length) & 1) === 1
  }
}

/**
 * @returns the wanted parameters; pieces that are not percent-encoded UTF-8 are left out, as Go does. There may be any number of others, which cost
 * little: nothing is made of a name that is too long or too short. Refused where there are too many, these included.
 */
export function readParameters(raw: string, wanted: WantedNames): Answer<GoParameters> {
  const parameters = new Map<string, string[]>()
  const { length } = raw
  let count = 0
  let decoded = 0
  for (let from = 0; from < length; from++) {
    if (raw.charCodeAt(from) === AMPERSAND) continue
    if (++count > MAX_PARAMETERS) return refused(`the query has more than ${MAX_PARAMETERS} parameters`)
    let escapes = 0
    let isPlain = true
    let nameEnd = -1
    let at = from
    for (; at < length; at++) {
      const character = raw.charCodeAt(at)
      if (character === AMPERSAND) break
      if (character === EQUALS) {
        if (nameEnd < 0) nameEnd = at
      } else if (character === PERCENT) {
        isPlain = false
        if (nameEnd < 0) escapes++
      } else if (character === PLUS) isPlain = false
    }
    if (nameEnd < 0) nameEnd = at
    if (wanted.hasLength(nameEnd - from - 2 * escapes)) {
      if (isPlain) add(parameters, wanted, raw.slice(from, nameEnd), raw.slice(nameEnd + 1, at))
      else if (++decoded > MAX_DECODED)
        return refused(`the query has more than ${MAX_DECODED} encoded parameters`)
      else addDecoded(parameters, wanted, raw.slice(from, at))
    }
    from = at
  }
  return success(parameters)
}

function addDecoded(parameters: Map<string, string[]>, wanted: WantedNames, piece: string): void {
  const read = splitQueryString(piece.replaceAll('+', '%20'))
  if (Array.isArray(read) && read[0] !== undefined) add(parameters, wanted, read[0].name, read[0].value)
}

function add(parameters: Map<string, string[]>, wanted: WantedNames, name: string, value: string): void {
  if (!wanted.has(name)) return
  const others = parameters.get(name)
  if (others === undefined) parameters.set(name, [value])
  else others.push(value)
}

/** Makes the parser of an endpoint, from the ids of the networks that are indexed here. */
export type ParserOf<Query> = (servedNetworks: ReadonlySet<number>) => QueryParser<Query>

/**
 * @param wanted the names that the endpoints of a dialect read.
 * @param unserved what is said of a network that is not served.
 * @returns what makes the parser of an endpoint of `read`, which makes the query; what that refuses is told as it is.
 */
export function goParsers(wanted: WantedNames, unserved: (networkId: number) => string) {
  return <Query extends { readonly networkId?: NetworkId }>(
    read: (parameters: GoParameters, servedNetworks: ReadonlySet<number>) => Answer<Query>,
    unservedHere = unserved,
  ): ParserOf<Query> =>
    (servedNetworks) =>
    (raw) => {
      const parameters = readParameters(raw, wanted)
      if (!parameters.ok) return parameters
      const answer = read(parameters.value, servedNetworks)
      if (!answer.ok) return answer
      const query = answer.value
      if (query.networkId !== undefined && !servedNetworks.has(query.networkId))
        return failure('INVALID_NETWORK_ID', unservedHere(query.networkId))
      return success({ query, key: keyOf(query) })
    }
}

/** What names a deposit. */
export interface DepositKey {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
}

/** Of two numbers that could not be read the first one is told. */
export function depositKey(networkId: Answer<number>, depositCount: Answer<number>): Answer<DepositKey> {
  if (!networkId.ok) return networkId
  if (!depositCount.ok) return depositCount
  return success({
    networkId: asNetworkId(networkId.value),
    depositCount: asDepositCount(depositCount.value),
  })
}

/** The query for the row of one deposit. */
export function onlyBridge({ networkId, depositCount }: DepositKey): BridgesQuery {
  return { networkId, pageNumber: 1, pageSize: 1, depositCounts: [depositCount] }
}

/** No tree has so many leaves: a deposit count that is never found. */
export const NO_DEPOSIT = asDepositCount(UINT32_MAX)

/** Equal for equal queries. */
function keyOf(query: object): string {
  return Object.entries(query)
    .map(
      ([name, value]) =>
        `${name}=${value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value}`,
    )
    .sort()
    .join(';')
}

/** The first value of a parameter; '' where there is none. */
export function firstValue(parameters: GoParameters, name: string): string {
  return parameters.get(name)?.[0] ?? ''
}

const DIGITS = /^[0-9]+$/
/** More digits than any number of 64 bits has, leading zeros aside. */
const MAX_DIGITS = 40

/** What `strconv.ParseUint` with base 10 and 64 bits says of a text that it refuses; undefined for one that it reads. */
export function parseFault(text: string): string | undefined {
  if (!DIGITS.test(text)) return `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`
  return BigInt(text.slice(0, MAX_DIGITS)) > UINT64_MAX
    ? `strconv.ParseUint: parsing ${goQuote(text)}: value out of range`
    : undefined
}

/** A number of 32 bits that must be given. */
export function mandatory(parameters: GoParameters, name: string): Answer<number> {
  const text = firstValue(parameters, name)
  if (text === '') return refused(`${name} is mandatory`)
  const fault = parseFault(text)
  return fault === undefined ? inRange(name, text) : refused(`invalid ${name} parameter: ${fault}`)
}

/** A number of 32 bits that may be given: one that can't be read counts as none. */
export function optional(parameters: GoParameters, name: string, fallback: number): Answer<number> {
  const text = firstValue(parameters, name)
  return parseFault(text) === undefined ? inRange(name, text) : success(fallback)
}

function inRange(name: string, text: string): Answer<number> {
  const number = Number(text)
  return number > UINT32_MAX ? refused(`${name} value out of range for uint32`) : success(number)
}

export function refused(message: string) {
  return failure('INVALID_PARAMETER', message)
}

const MAX_QUOTED = 100

/** A text as Go's `%q` shows it. */
function goQuote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? text.slice(0, MAX_QUOTED) : text)
}

const ESCAPED: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** JSON as Go writes it: compact, and without characters that HTML has a meaning for. */
export function goJson(value: object): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => ESCAPED[character]!)
}
