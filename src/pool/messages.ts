import type { AnswerLife } from '../api/present.js'
import { type ContentCoding, contentCodings } from './contentCoding.js'
import type { ShardVersion } from './shardVersion.js'

/**
 * What comes back from a worker, in the batch's slot or transferred.
 *
 *   tip f64 | epoch f64 | halted f64 | count u32 | unused u32
 *   count × ( offset u32 | length u32 | status u16 | retry after, seconds u16 | kind u8 | coding u8 | tag, 22 characters )
 *   bodies
 */

const HEADER_BYTES = 32
const ENTRY_BYTES = 36

/** Characters of a tag: base64url of 132 bits. */
export const TAG_LENGTH = 22

/** A query that ended in an exception: our bug, or a store that contradicts itself. */
export interface QueryFault {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** True when the store of `networkId` contradicts itself. */
  readonly isInvariant: boolean
  readonly networkId: number | null
}

/** The answer to one query. */
export interface QueryReply {
  readonly status: number
  /** JSON in `coding`; a view of the batch's memory, good until `settle` returns. Empty for a fault. */
  readonly body: Uint8Array
  readonly coding: ContentCoding
  /** Digest of the JSON: the same for the same text, whatever made it and whenever. '' unless the status is 200. */
  readonly tag: string
  /** Seconds, 0 when waiting does not help. */
  readonly retryAfterSec: number
  /** How long a success may be kept; undefined: not at all. */
  readonly life: AnswerLife | undefined
  /** Read before the first read of the task. */
  readonly version: ShardVersion
  readonly fault: QueryFault | undefined
}

const NEVER = 0
const VERSION = 1
const EPOCH = 2
const FAULT = 3

const lifeCodes: { readonly [Life in AnswerLife]: number } = { version: VERSION, epoch: EPOCH }

/** Place that a reply buffer needs in front of its bodies. */
export function replyHeadBytes(count: number): number {
  return HEADER_BYTES + count * ENTRY_BYTES
}

/** Fills the head of a reply whose bodies are already there. */
export class ReplyHead {
  private readonly view: DataView

  constructor(reply: Uint8Array, version: ShardVersion, count: number) {
    this.view = new DataView(reply.buffer, reply.byteOffset, reply.length)
    this.view.setFloat64(0, version.tip)
    this.view.setFloat64(8, version.epoch)
    this.view.setFloat64(16, version.halted)
    this.view.setUint32(24, count)
  }

  setEntry(index: number, entry: ReplyEntry): void {
    const at = HEADER_BYTES + index * ENTRY_BYTES
    this.view.setUint32(at, entry.offset)
    this.view.setUint32(at + 4, entry.length)
    this.view.setUint16(at + 8, entry.status)
    this.view.setUint16(at + 10, Math.min(entry.retryAfterSec, 0xffff))
    this.view.setUint8(
      at + 12,
      entry.isFault ? FAULT : entry.life === undefined ? NEVER : lifeCodes[entry.life],
    )
    this.view.setUint8(at + 13, contentCodings.indexOf(entry.coding))
    // The memory is used again and again: an answer without a tag must not inherit one.
    this.view.setUint8(at + 14, 0)
    for (let place = 0; place < entry.tag.length; place++)
      this.view.setUint8(at + 14 + place, entry.tag.charCodeAt(place))
  }
}

/** Where a body lies and what it is. */
export interface ReplyEntry {
  readonly offset: number
  readonly length: number
  readonly status: number
  readonly coding: ContentCoding
  /** '' or `TAG_LENGTH` ASCII characters. */
  readonly tag: string
  readonly retryAfterSec: number
  readonly life: AnswerLife | undefined
  /** The body is a `QueryFault` as JSON, for our log, not for the wire. */
  readonly isFault: boolean
}

const NO_BODY = new Uint8Array(0)

/** The replies of a batch, in the order of its queries. */
export function decodeReplies(reply: Uint8Array): QueryReply[] {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length)
  const bytes = Buffer.from(reply.buffer, reply.byteOffset, reply.length)
  const version = { tip: view.getFloat64(0), epoch: view.getFloat64(8), halted: view.getFloat64(16) }
  const replies: QueryReply[] = []
  const count = view.getUint32(24)
  for (let index = 0; index < count; index++) {
    const at = HEADER_BYTES + index * ENTRY_BYTES
    const offset = view.getUint32(at)
    const end = offset + view.getUint32(at + 4)
    const kind = view.getUint8(at + 12)
    replies.push({
      status: view.getUint16(at + 8),
      body: kind === FAULT ? NO_BODY : reply.subarray(offset, end),
      coding: contentCodings[view.getUint8(at + 13)]!,
      tag: view.getUint8(at + 14) === 0 ? '' : bytes.toString('latin1', at + 14, at + 14 + TAG_LENGTH),
      retryAfterSec: view.getUint16(at + 10),
      life: kind === VERSION ? 'version' : kind === EPOCH ? 'epoch' : undefined,
      version,
      fault: kind === FAULT ? (JSON.parse(bytes.toString('utf8', offset, end)) as QueryFault) : undefined,
    })
  }
  return replies
}
