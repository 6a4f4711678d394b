import { type ContentCoding, contentCodings } from '../../pool/contentCoding.js'

/** Clients send few different headers. The bound keeps one that sends a new header each time from filling the memory. */
const MAX_REMEMBERED = 256

/** Browsers send 30 letters. A client that sends more than this gets no coding, so that nobody makes us split kilobytes. */
const MAX_LENGTH = 256

/** `q=0.5`: the standard allows three digits behind the point. */
const WEIGHT = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i

/** Names that have a meaning here, in small letters. */
const KNOWN: ReadonlySet<string> = new Set([...contentCodings, 'x-gzip', '*'])

const remembered = new Map<string, ContentCoding>()

/** Chooses the coding of an answer by `Accept-Encoding`. Without the header ('') and for unreadable text it is identity. */
export function chooseCoding(header: string): ContentCoding {
  if (header === '' || header.length > MAX_LENGTH) return 'identity'
  let chosen = remembered.get(header)
  if (chosen === undefined) {
    chosen = choose(header)
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(header, chosen)
  }
  return chosen
}

function choose(header: string): ContentCoding {
  const weights = new Map<string, number>()
  // Of 125 names, nearly all strangers, it may cost little: a client can send others each time.
  for (const item of header.split(',')) {
    const end = item.indexOf(';')
    const name = (end < 0 ? item : item.slice(0, end)).trim().toLowerCase()
    if (!KNOWN.has(name)) continue
    const weight =
      end < 0
        ? 1
        : Number(
            WEIGHT.exec(
              item
                .slice(end + 1)
                .split(';', 1)[0]!
                .trim(),
            )?.[1] ?? 0,
          )
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight)
  }
  const others = weights.get('*') ?? 0
  // A client that gives identity no weight accepts it, but likes every coding that it names better.
  const weightOf = (coding: ContentCoding): number =>
    weights.get(coding) ?? (coding === 'identity' ? Number.MIN_VALUE : others)
  let best: ContentCoding = 'identity'
  // Of equal weights, the one that comes first in `contentCodings` wins.
  for (const coding of contentCodings.toReversed())
    if (weightOf(coding) >= weightOf(best) && weightOf(coding) > 0) best = coding
  return best
}
