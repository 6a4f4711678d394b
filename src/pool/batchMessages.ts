import type { AnswerLife } from '../api/present/present.js'
import type { AnswerVersion } from '../board/version.js'
import { type ContentCoding, contentCodings } from './contentCoding.js'
import { TAG_LENGTH } from './digestTag.js'

/**
 * The bytes of a reply, which a worker writes into the batch's slot or transfers:
 *
 *   commits f64 | epoch f64 | halted f64 | count u32 | unused u32
 *   count × ( offset u32 | length u32 | status u16 | retry after, seconds u16 | kind u8 | coding u8 | tag, 22 characters )
 *   bodies
 */

const HEADER_BYTES = 32
const ENTRY_BYTES = 36
const TAG_AT = 14

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
  /** JSON in `coding`, empty for a fault. A view of the batch's memory, valid until `deliver` returns. */
  readonly body: Uint8Array
  readonly coding: ContentCoding
  /** ASCII characters that depend only on the JSON; empty unless the status is 200, and for a list whose rows were not written. Valid as long as the body. */
  readonly tag: Uint8Array
  /** Seconds, 0 when waiting does not help. */
  readonly retryAfterSec: number
  /** How long the answer may be kept; undefined: not at all. */
  readonly life: AnswerLife | undefined
  /** The version before the task read any shard, or `NO_VERSION`. */
  readonly version: AnswerVersion
  readonly fault: QueryFault | undefined
}

// Values of `kind`: how long the answer may be kept, or that it is a fault.
const NEVER = 0
const COMMIT = 1
const EPOCH = 2
const FAULT = 3

const lifeCodes: { readonly [Life in AnswerLife]: number } = { commit: COMMIT, epoch: EPOCH }

/** Size of a reply's head, which stands in front of the bodies. */
export function replyHeadBytes(count: number): number {
  return HEADER_BYTES + count * ENTRY_BYTES
}

/** Offset in a reply of the tag of answer `index`. */
export function tagPlace(index: number): number {
  return HEADER_BYTES + index * ENTRY_BYTES + TAG_AT
}

/** Fills the head of a reply whose bodies are already there. */
export class ReplyHead {
  private readonly view: DataView

  constructor(reply: Uint8Array, version: AnswerVersion, count: number) {
    this.view = new DataView(reply.buffer, reply.byteOffset, reply.length)
    this.view.setFloat64(0, version.commits)
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
    // The memory is reused: an answer without a tag must not show an older one.
    if (!entry.isTagged) this.view.setUint8(at + TAG_AT, 0)
  }
}

/** Where a body lies and what it is. */
export interface ReplyEntry {
  readonly offset: number
  readonly length: number
  readonly status: number
  readonly coding: ContentCoding
  /** Whether a tag was written at `tagPlace`. */
  readonly isTagged: boolean
  readonly retryAfterSec: number
  readonly life: AnswerLife | undefined
  /** The body is a `QueryFault` as JSON, for our log, not for the wire. */
  readonly isFault: boolean
}

const NO_BYTES = new Uint8Array(0)

/** The replies of a batch, in the order of its queries. */
export function decodeReplies(reply: Uint8Array): QueryReply[] {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length)
  const version = { commits: view.getFloat64(0), epoch: view.getFloat64(8), halted: view.getFloat64(16) }
  const replies: QueryReply[] = []
  const count = view.getUint32(24)
  for (let index = 0; index < count; index++) {
    const at = HEADER_BYTES + index * ENTRY_BYTES
    const offset = view.getUint32(at)
    const end = offset + view.getUint32(at + 4)
    const kind = view.getUint8(at + 12)
    replies.push({
      status: view.getUint16(at + 8),
      body: kind === FAULT ? NO_BYTES : reply.subarray(offset, end),
      coding: contentCodings[view.getUint8(at + 13)]!,
      tag:
        view.getUint8(at + TAG_AT) === 0 ? NO_BYTES : reply.subarray(at + TAG_AT, at + TAG_AT + TAG_LENGTH),
      retryAfterSec: view.getUint16(at + 10),
      life: kind === COMMIT ? 'commit' : kind === EPOCH ? 'epoch' : undefined,
      version,
      fault: kind === FAULT ? decodeFault(reply.subarray(offset, end)) : undefined,
    })
  }
  return replies
}

function decodeFault(body: Uint8Array): QueryFault {
  // TextDecoder takes no shared memory.
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString()) as QueryFault
}
