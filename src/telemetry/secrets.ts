/**
 * The secret parts of the addresses that this thread uses. Providers repeat keys in their error texts: as a path, without a
 * scheme, percent-decoded, in upper or lower case. Each text is searched for them, which is cheap for the few of one thread.
 */
const secrets = new Set<string>()
let longestFirst: readonly string[] = []

const HIDDEN = '[redacted]'

/** From now on no log line shows path, query, user or password of this address. Its host is not secret. */
export function hideAddress(address: string): void {
  const before = secrets.size
  for (const part of secretPartsOf(address))
    for (const form of [part, part.toLowerCase(), part.toUpperCase()])
      secrets.add(JSON.stringify(form).slice(1, -1))
  if (secrets.size > before) longestFirst = [...secrets].sort((a, b) => b.length - a.length)
}

/** @param line a line of JSON, or any text. */
export function withoutSecrets(line: string): string {
  let clean = line
  for (const secret of longestFirst) if (clean.includes(secret)) clean = clean.replaceAll(secret, HIDDEN)
  return clean
}

function secretPartsOf(address: string): string[] {
  const { pathname, search, username, password } = new URL(address)
  const path = pathname.replace(/\/+$/, '')
  const query = search.slice(1)
  const pair = `${decoded(username)}:${decoded(password)}`
  const wholes = [path, query, `${path}${search}`, `${username}:${password}`, pair]
  const pieces = [...path.split('/'), ...query.split(/[&=]/), username]
  const named = query.split('&').flatMap((pair) => KEY_PARAMETER.exec(pair)?.[1] ?? [])
  // A user name without a password is mostly a key.
  const given = [...named, ...(password === '' ? [username] : [])].filter(
    ({ length }) => length >= SHORTEST_KEY,
  )
  const parts = [
    ...wholes.filter((whole) => whole.length > LONGEST_SHOWN_WHOLE),
    ...pieces.filter((piece) => looksLikeKey(decoded(piece))),
    ...[...given, password].filter((secret) => !isWord(secret)),
    ...(pair === ':' ? [] : [Buffer.from(pair).toString('base64')]),
  ]
  return [...parts, ...parts.map(decoded)].filter((part) => part !== '')
}

/** A path, query or pair this short is shown: `/v3` and the like are in any text. */
const LONGEST_SHOWN_WHOLE = 3

/** A shorter key would be found in our own words. */
const SHORTEST_KEY = 6

/** A parameter whose name says that its value is a key. */
const KEY_PARAMETER = /^[^=]*(?:key|token|secret|auth|pass|pwd|sig|project|credential)[^=]*=(.*)$/i

/** Names such as `mainnet` or `rpc` are not keys, and neither are numbers that a line may hold for other reasons. */
function looksLikeKey(piece: string): boolean {
  if (/^\d*$/.test(piece)) return piece.length >= 12
  return (
    piece.length >= 12 || (piece.length >= SHORTEST_KEY && (/\d/.test(piece) || /[a-z][A-Z]/.test(piece)))
  )
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
