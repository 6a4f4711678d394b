import type { ContentCoding } from '../pool/contentCoding.js'
import { TAG_LENGTH } from '../pool/digestTag.js'
import { contentLines, entityTag, headerLines } from './wire/headers.js'

interface ReadyHead {
  readonly bytes: Uint8Array
  readonly tagAt: number
}

const PLACEHOLDER = 't'.repeat(TAG_LENGTH)

/**
 * Heads of successful answers, kept as bytes in which only the tag changes. Filling in the tag takes 0.1 µs. Joining and
 * encoding a head for each answer took 0.9 µs, more than sending the body.
 */
export class ReadyHeads {
  /** Lines between `Cache-Control` and `ETag`. */
  private readonly lines: string
  private readonly byCacheControl = new Map<string, Partial<Record<ContentCoding, ReadyHead>>>()

  constructor(lines: string) {
    this.lines = lines
  }

  /** The value of `Cache-Control` and all header lines behind it. @returns bytes that the next call overwrites. */
  fill(cacheControl: string, coding: ContentCoding, tag: Uint8Array): Uint8Array {
    let heads = this.byCacheControl.get(cacheControl)
    if (heads === undefined) {
      heads = {}
      this.byCacheControl.set(cacheControl, heads)
    }
    heads[coding] ??= this.make(cacheControl, coding)
    const { bytes, tagAt } = heads[coding]
    for (let place = 0; place < TAG_LENGTH; place++) bytes[tagAt + place] = tag[place]!
    return bytes
  }

  private make(cacheControl: string, coding: ContentCoding): ReadyHead {
    const etag = headerLines([['ETag', entityTag(PLACEHOLDER, coding)]])
    const bytes = Buffer.from(cacheControl + this.lines + etag + contentLines(coding))
    return { bytes, tagAt: bytes.indexOf(PLACEHOLDER) }
  }
}
