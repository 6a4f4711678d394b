/*
 * The secret parts of the addresses that this thread knows. Providers repeat keys in their words: as a path, without a scheme,
 * decoded or encoded once more, in other letter case. Each text is searched for these forms, which is cheap for the few addresses
 * of a service.
 */

/** In lower case. */
const secrets = new Set<string>()
let longestFirst: readonly string[] = []
/** All parts, also those that any text may hold for other reasons: a user `admin`, a path `mainnet`. */
const parts = new Set<string>()
let anyPart: RegExp | undefined

const HIDDEN = '[redacted]'

/** An address, also with the escaped slashes of JSON, or percent-encoded. */
const ADDRESS =
  /\b(?:https?|wss?)(?::(?:\\*\/){2}(?:[^\s"'\\<>\])@]*@)?(?:\[[\da-f:.%]+\])?(?:[^\s"'\\<>)\]]|\\+\/)*|%3a%2f%2f[^\s"'\\<>)\]&]*)/gi

/** From now on no text shows path, query, user or password of this address. Its host is not secret. */
export function hideAddress(address: string): void {
  const { wholes, pieces, keys, pair } = partsOf(address)
  const before = secrets.size
  for (const secret of [...wholes, ...keys])
    for (const form of formsOf(secret)) secrets.add(form.toLowerCase())
  for (const secret of [...keys.map(decoded), ...pair])
    for (const form of base64FormsOf(secret)) secrets.add(form.toLowerCase())
  if (secrets.size > before) longestFirst = [...secrets].sort((a, b) => b.length - a.length)
  for (const piece of pieces)
    for (const form of [piece, decoded(piece)]) if (form.length >= SHORTEST_PART) parts.add(form)
  anyPart = undefined
}

/** Hides every address, and the secrets of known ones. @param text a line of JSON, or any text. */
export function withoutSecrets(text: string): string {
  let clean = text.replace(ADDRESS, '[address]')
  let low = lowerCase(clean)
  for (const secret of longestFirst) {
    if (!low.includes(secret)) continue
    clean = replaceEach(clean, low, secret)
    low = lowerCase(clean)
  }
  return clean
}

/** Hides every part of a known address besides: for the words of a provider, which repeats what it was sent. */
export function withoutAddressParts(text: string): string {
  if (parts.size === 0) return withoutSecrets(text)
  anyPart ??= wordsPattern([...parts])
  return withoutSecrets(text).replace(anyPart, HIDDEN)
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

function replaceEach(text: string, low: string, secret: string): string {
  let clean = ''
  let from = 0
  for (let at = low.indexOf(secret); at >= 0; at = low.indexOf(secret, from)) {
    clean += text.slice(from, at) + HIDDEN
    from = at + secret.length
  }
  return clean + text.slice(from)
}

interface AddressParts {
  /** Path, query and credentials as wholes: secret, but for very short ones. */
  readonly wholes: readonly string[]
  readonly pieces: readonly string[]
  /** The pieces that are keys by their look, their name or their place. */
  readonly keys: readonly string[]
  /** User and password as they are sent; none without both. */
  readonly pair: readonly string[]
}

function partsOf(address: string): AddressParts {
  const { pathname, search, hash, username, password } = new URL(address)
  const path = pathname.replace(/\/+$/, '')
  const query = search.slice(1)
  const pair = `${decoded(username)}:${decoded(password)}`
  const wholes = [path, query, `${path}${search}`, hash.slice(1), `${username}:${password}`, pair]
  const values = query.split('&').map((given) => given.slice(given.indexOf('=') + 1))
  const named = query.split('&').flatMap((given) => KEY_PARAMETER.exec(given)?.[1] ?? [])
  const looked = [...path.split('/'), ...values, hash.slice(1), username]
  // A user name without a password is mostly a key.
  const given = [...named, ...(password === '' ? [username] : [])].filter(
    ({ length }) => length >= SHORTEST_KEY,
  )
  return {
    wholes: wholes.filter((whole) => whole.length > LONGEST_SHOWN_WHOLE),
    pieces: [...looked, password],
    keys: [
      ...looked.filter((piece) => looksLikeKey(decoded(piece))),
      ...[...given, password].filter((secret) => !isWord(secret)),
    ],
    pair: pair === ':' ? [] : [pair],
  }
}

/** What texts make of a secret: decoded, percent-encoded (again), escaped for HTML, and each of these in JSON, also in JSON in JSON. */
function formsOf(secret: string): string[] {
  const plain = decoded(secret)
  const forms = [
    secret,
    plain,
    encodeURIComponent(plain),
    encodeURIComponent(secret),
    plain.replaceAll('&', '&amp;'),
    plain.replaceAll('&', '\\u0026'),
  ]
  return forms.flatMap((form) => [form, inJson(form), inJson(inJson(form))])
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Without padding, so that they are found with it and without. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')]
}

/** A path, query or pair this short is shown: `/v3` and the like are in any text. */
const LONGEST_SHOWN_WHOLE = 3

/** A shorter key would be found in our own words. */
const SHORTEST_KEY = 6

/** A shorter part is no secret: `v3`. */
const SHORTEST_PART = 3

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
