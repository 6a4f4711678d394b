import { type ContentCoding, contentCodings } from '../../pool/contentCoding.js'

/** Clients send few different headers; one that sends a new one each time must not fill the memory. */
const MAX_REMEMBERED = 256

/** `;q=0.5`: up to three digits after the point, as the standard has it. */
const WEIGHT = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i

const remembered = new Map<string, ContentCoding>()

/** The coding to answer in by `Accept-Encoding`; '' (no header) and text that is not understood mean identity. */
export function chooseCoding(header: string): ContentCoding {
  if (header === '') return 'identity'
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
  for (const item of header.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = parameters.length === 0 ? 1 : Number(WEIGHT.exec(parameters[0]!)?.[1] ?? 0)
    const coding = name.toLowerCase()
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, weight)
  }
  const others = weights.get('*') ?? 0
  // Identity is as good as anything unless it is weighed: then a client means it.
  const weightOf = (coding: ContentCoding): number =>
    weights.get(coding) ?? (coding === 'identity' ? Number.MIN_VALUE : others)
  let best: ContentCoding = 'identity'
  // Identity stands last: what a client likes as much goes before it.
  for (const coding of contentCodings.toReversed())
    if (weightOf(coding) >= weightOf(best) && weightOf(coding) > 0) best = coding
  return best
}
