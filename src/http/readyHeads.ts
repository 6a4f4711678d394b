import type { ContentCoding } from '../pool/contentCoding.js'
import { TAG_LENGTH } from '../pool/digestTag.js'
import { contentLines, entityTag, headerLines, positionLine } from './wire/headers.js'

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
  /** Lines between `Cache-Control` and `ETag`, before and behind where the feeds were. */
  private readonly first: string
  private readonly last: string
  private readonly byCacheControl = new Map<string, Partial<Record<ContentCoding, ReadyHead>>>()
  /** Of lists, of whose heads those of the newest position are kept. */
  private position = ''

  constructor(first: string, last: string) {
    this.first = first
    this.last = last
  }

  /**
   * The value of `Cache-Control` and all header lines behind it.
   * @param position of a list: where the feeds were. @returns bytes that the next call overwrites.
   */
  fill(cacheControl: string, coding: ContentCoding, tag: Uint8Array, position = ''): Uint8Array {
    if (position !== '' && position !== this.position) {
      this.byCacheControl.delete(cacheControl)
      this.position = position
    }
    let heads = this.byCacheControl.get(cacheControl)
    if (heads === undefined) {
      heads = {}
      this.byCacheControl.set(cacheControl, heads)
    }
    heads[coding] ??= this.make(cacheControl, coding, position)
    const { bytes, tagAt } = heads[coding]
    for (let place = 0; place < TAG_LENGTH; place++) bytes[tagAt + place] = tag[place]!
    return bytes
  }

  private make(cacheControl: string, coding: ContentCoding, position: string): ReadyHead {
    const etag = headerLines([['ETag', entityTag(PLACEHOLDER, coding)]])
    const lines = this.first + positionLine(position) + this.last
    const bytes = Buffer.from(cacheControl + lines + etag + contentLines(coding))
    return { bytes, tagAt: bytes.indexOf(PLACEHOLDER) }
  }
}
