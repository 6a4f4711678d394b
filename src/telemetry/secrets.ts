import { decodeEscapes, decodeWithPlaces } from './decodedText.js'

/*
 * The secret parts of the addresses that this thread knows. Providers repeat keys in their words: as a path, without a scheme,
 * decoded or encoded once more, in other letter case. So each text is searched as it is, and once more with its escapes decoded,
 * which is cheap for the few addresses of a service.
 */

/** In lower case, decoded: found wherever they stand. */
const secrets = new Set<string>()
/** In lower case, decoded: paths and queries without a key in them, `/rpc`. Other words may hold them, so they are found where they stand alone. */
const plainWholes = new Set<string>()
/** All parts, also those that any text may hold for other reasons: a user `admin`, a path `mainnet`. */
const parts = new Set<string>()
let anyPart: RegExp | undefined
/** In lower case. A plain path also stands alone behind one of them. */
const hosts = new Set<string>()
/** In lower case: names that everybody sees. */
const shownNames = new Set<string>()

const HIDDEN = '[redacted]'

/** Any address of HTTP or a WebSocket: paths are keys, too. */
const WEB = /\b(?:https?|wss?):\/\/(?!["'\s]|$)(?:[^\s"'\\<>\])@]*@)?/
/**
 * One of any other scheme with a user in it: `nats://user:password@`. A user does not hold `://`, so that a text of many schemes takes no
 * longer; `file:` has no user, and folders with an @ in stack traces.
 */
const WITH_USER = /(?<![a-z])(?!file:)[a-z][a-z\d+.-]{0,30}:\/\/(?:(?!:\/\/)[^\s"'\\<>\])@])+@/
const ADDRESS = new RegExp(
  `(?:${WEB.source}|${WITH_USER.source})(?:\\[[\\da-f:.%]+\\])?(?:[^\\s"'\\\\<>)\\]]|\\\\{1,8}\\/)*`,
  'gi',
)

/** A part of an address that is in this name, and is a key by its look only, is shown: `arbitrum-mainnet`. */
export function showName(name: string): void {
  shownNames.add(name.toLowerCase())
}

/** From now on no text shows path, query, user or password of this address. Its host is not secret. */
export function hideAddress(address: string): void {
  const { wholes, pieces, likely, stated, pair, places } = partsOf(address)
  const keys = [...stated, ...likely.filter((key) => !isShown(meaning(key)))]
  for (const key of keys)
    for (const form of [...formsOf(key), ...base64FormsOf(decoded(key))]) secrets.add(form)
  for (const text of pair) for (const form of base64FormsOf(text)) secrets.add(form)
  for (const whole of wholes)
    for (const form of formsOf(whole))
      (pair.includes(whole) || keys.some((key) => whole.includes(key)) ? secrets : plainWholes).add(form)
  for (const piece of pieces)
    for (const form of [piece, decoded(piece)]) if (form.length >= SHORTEST_PART) parts.add(form)
  for (const place of places) hosts.add(place.toLowerCase())
  anyPart = undefined
}

/** Hides every address, and the secrets of known ones, in any encoding. */
export function withoutSecrets(text: string): string {
  return hidden(text, undefined)
}

/** Hides every part of a known address besides: for the words of a provider, which repeats what it was sent. */
export function withoutAddressParts(text: string): string {
  if (parts.size > 0) anyPart ??= wordsPattern([...parts])
  return hidden(text, anyPart)
}

/** The same for a JSON document, which stays one. */
export function jsonWithoutSecrets(json: string): string {
  const clean = withoutSecrets(json)
  if (clean === json) return json
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return clean
  }
  return `${JSON.stringify(valueWithoutSecrets(value))}${json.endsWith('\n') ? '\n' : ''}`
}

function valueWithoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value)
  if (typeof value === 'number') return withoutSecrets(String(value)) === String(value) ? value : HIDDEN
  if (Array.isArray(value)) return value.map(valueWithoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [withoutSecrets(key), valueWithoutSecrets(child)]),
  )
}

interface Span {
  readonly from: number
  readonly to: number
  readonly word: string
}

function hidden(text: string, more: RegExp | undefined): string {
  const spans = spansIn(text, more)
  const meant = decodeEscapes(text)
  const meantSpans = meant === text ? [] : spansIn(meant, more)
  if (meantSpans.length === 0) return replaced(text, spans)
  const places = decodeWithPlaces(text)
  for (const { from, to, word } of meantSpans)
    spans.push({ from: places.from[from]!, to: places.to[to - 1]!, word })
  return replaced(text, spans)
}

function spansIn(text: string, more: RegExp | undefined): Span[] {
  const low = lowerCase(text)
  const spans = spansOf(text, ADDRESS, '[address]')
  if (more !== undefined) spans.push(...spansOf(text, more, HIDDEN))
  const findEach = (secret: string, isSecretAt: (at: number) => boolean): void => {
    for (let at = low.indexOf(secret); at >= 0; at = low.indexOf(secret, at + secret.length))
      if (isSecretAt(at)) spans.push({ from: at, to: at + secret.length, word: HIDDEN })
  }
  for (const secret of secrets)
    findEach(secret, (at) => secret.length >= SHORTEST_KEY || isWholeWord(low, at, at + secret.length))
  for (const whole of plainWholes) findEach(whole, (at) => standsAlone(low, at, at + whole.length))
  return spans
}

function spansOf(text: string, pattern: RegExp, word: string): Span[] {
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
    from: index,
    to: index + found.length,
    word,
  }))
}

/** A short password may be a part of any word: `test` of `latest`. */
function isWholeWord(low: string, from: number, to: number): boolean {
  return !WORD_SIGN.test(low.slice(from - 1, from)) && !WORD_SIGN.test(low.slice(to, to + 1))
}

const WORD_SIGN = /[\p{L}\p{N}]/u

/** Not within a longer word or path. The path of an address may follow its host. */
function standsAlone(low: string, from: number, to: number): boolean {
  if (/^(?:[\p{L}\p{N}_-]|\/[\p{L}\p{N}_])/u.test(low.slice(to, to + 3))) return false
  const before = low.slice(Math.max(0, from - LONGEST_PLACE), from)
  if (!/[\p{L}\p{N}_.-]$/u.test(before)) return true
  const host = before.replace(/:\d{1,5}$/, '')
  return [...hosts].some((known) => host.endsWith(known))
}

/** Overlapping spans are replaced together. */
function replaced(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text
  let clean = ''
  let done = 0
  for (const { from, to, word } of [...spans].sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= done) clean += text.slice(done, from) + word
    done = Math.max(done, to)
  }
  return clean + text.slice(done)
}

/** Finds these texts where they stand as whole words, in any letter case. */
function wordsPattern(texts: readonly string[]): RegExp {
  const longest = [...texts].sort((a, b) => b.length - a.length)
  const escaped = longest.map((text) =>
    text.replace(/[^\p{L}\p{N}_]/gu, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`),
  )
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${escaped.join('|')})(?![\\p{L}\\p{N}_])`, 'giu')
}

/** As long as the text, so that places in both are the same. */
function lowerCase(text: string): string {
  const low = text.toLowerCase()
  return low.length === text.length ? low : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

interface AddressParts {
  /** Path, query and credentials as wholes: secret, but for very short ones. */
  readonly wholes: readonly string[]
  readonly pieces: readonly string[]
  /** The pieces that are keys by their look. */
  readonly likely: readonly string[]
  /** Those that are keys by their name or their place. */
  readonly stated: readonly string[]
  /** User and password as they are sent, and as they are written; none without both. */
  readonly pair: readonly string[]
  /** The host, with its port and without. */
  readonly places: readonly string[]
}

function partsOf(address: string): AddressParts {
  const { pathname, search, hash, username, password, host, hostname } = new URL(address)
  const path = pathname.replace(/\/+$/, '')
  const query = search.slice(1)
  const values = query.split('&').map((given) => given.slice(given.indexOf('=') + 1))
  const named = query.split('&').flatMap((given) => KEY_PARAMETER.exec(given)?.[1] ?? [])
  const bareNames = query.split('&').flatMap((given) => (given.endsWith('=') ? given.slice(0, -1) : []))
  const segments = [...path.split('/'), ...values, ...bareNames, hash.slice(1), username]
  const looked = segments.flatMap((segment) => [segment, ...segment.split(/[;=:,&+]|%20/)])
  // A user name without a password is mostly a key.
  const given = [...named, ...(password === '' ? [username] : [])].filter(
    (key) => meaning(key).trim().length >= SHORTEST_KEY,
  )
  const hasPair = username !== '' || password !== ''
  const pair = hasPair ? [`${decoded(username)}:${decoded(password)}`, `${username}:${password}`] : []
  return {
    wholes: [path, query, `${path}${search}`, hash.slice(1), ...pair].filter(
      (whole) => meaning(whole).trim().length > LONGEST_SHOWN_WHOLE,
    ),
    pieces: [...looked, password],
    likely: looked.filter((piece) => looksLikeKey(decoded(piece))),
    stated: [...given, password].filter((secret) => !isWord(meaning(secret).trim())),
    pair,
    places: [host, hostname],
  }
}

/** As written, with its escapes decoded, and as forms encode spaces. */
function formsOf(secret: string): string[] {
  const meant = meaning(secret)
  return [secret.toLowerCase(), meant, meant.replaceAll('+', ' '), meant.replaceAll(' ', '+')]
}

function meaning(text: string): string {
  return lowerCase(decodeEscapes(text))
}

/** Without padding, so that they are found with it and without. Short ones are in other words, too. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')].map((form) =>
    (form.length < SHORTEST_KEY ? `basic ${form}` : form).toLowerCase(),
  )
}

function isShown(key: string): boolean {
  return [...shownNames].some((name) => name.includes(key))
}

/** A path, query or pair this short is shown: `/v3` and the like are in any text. */
const LONGEST_SHOWN_WHOLE = 3

/** A shorter key would be found in our own words. */
const SHORTEST_KEY = 6

/** A shorter part is no secret: `v3`. */
const SHORTEST_PART = 3

/** Characters before a path that are compared with hosts: the longest name and a port. */
const LONGEST_PLACE = 260

/** A parameter whose name says that its value is a key. */
const KEY_PARAMETER = /^[^=]*(?:key|token|secret|auth|pass|pwd|sig|project|credential)[^=]*=(.*)$/i

/** Names such as `mainnet` or `rpc` are not keys, and neither are numbers that a line may hold for other reasons. */
function looksLikeKey(piece: string): boolean {
  if (/^\d*$/.test(piece)) return piece.length >= 12
  return piece.length >= 12 || (piece.length >= SHORTEST_KEY && /[\dA-Z]/.test(piece))
}

/** Whether a secret is too short or too common to be searched for by itself. Next to its user name it is still hidden. */
function isWord(secret: string): boolean {
  return secret.length < 4 || /^(?:\d{1,11}|true|false|null)$/.test(secret)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
