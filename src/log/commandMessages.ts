import { createHash } from 'node:crypto'
import { equalBytes } from '../protocol/abiBytes.js'
import { COMMAND_CODEC_VERSION, readVersion } from './commandCodec.js'
import { CommandFormatError } from './commandFormatError.js'

/** Longest message. NATS takes 1 MB by default; half of it leaves room for headers, and keeps what waits behind a command short. */
export const MOST_MESSAGE_BYTES = 512_000
/** Parts of a command at most: 65 MB, about a million deposits. A gatherer holds no more, and twice that while it joins them. */
export const MOST_PARTS = 128
const COMMAND_ID_BYTES = 16

/**
 * A message: version u8, id of the command 16 bytes, its part u16, number of parts u16 (both little-endian), SHA-256 32 bytes, then its
 * stretch of the command's bytes. The version stands first in every version, so that an older build can tell it.
 */
const ID_AT = 1
const PART_AT = ID_AT + COMMAND_ID_BYTES
const PARTS_AT = PART_AT + 2
const DIGEST_AT = PARTS_AT + 2
const HEAD_BYTES = DIGEST_AT + 32
/** Bytes of the command in every part but the last. */
const PART_BYTES = MOST_MESSAGE_BYTES - HEAD_BYTES

/**
 * Cuts a command into messages, of which all but the last are as long as they may be.
 * @param id 16 bytes that no other command has. @param command what `encodeCommand` returned.
 * @returns the messages in the order in which they are published, in memory of their own.
 * @throws RangeError when the command takes more than `MOST_PARTS`: then fewer blocks have to be proposed at once.
 */
export function commandMessages(id: Uint8Array, command: Uint8Array): Uint8Array[] {
  const parts = Math.ceil(command.length / PART_BYTES)
  if (id.length !== COMMAND_ID_BYTES)
    throw new RangeError(`an id has ${id.length} bytes, not ${COMMAND_ID_BYTES}`)
  if (parts < 1 || parts > MOST_PARTS)
    throw new RangeError(`a command of ${command.length} bytes takes ${parts} parts, not 1 to ${MOST_PARTS}`)
  const digest = digestOf({ version: COMMAND_CODEC_VERSION, id, parts }, command)
  return Array.from({ length: parts }, (_, part) => {
    const stretch = command.subarray(PART_BYTES * part, PART_BYTES * (part + 1))
    const message = new Uint8Array(HEAD_BYTES + stretch.length)
    const view = new DataView(message.buffer)
    message[0] = COMMAND_CODEC_VERSION
    message.set(id, ID_AT)
    view.setUint16(PART_AT, part, true)
    view.setUint16(PARTS_AT, parts, true)
    message.set(digest, DIGEST_AT)
    message.set(stretch, HEAD_BYTES)
    return message
  })
}

/** What a message did. All byte arrays are fresh memory, the caller owns them. */
export type Gathered =
  /** Its command goes on. */
  | { readonly type: 'unfinished' }
  /** It was the last part of a command, whose bytes are those that were sent. They may still be no command: `decodeCommand` says. */
  | { readonly type: 'finished'; readonly id: Uint8Array; readonly command: Uint8Array }
  /** It continues no command, and changed nothing. It is what a proposer left that was overtaken, or a message that came twice. */
  | { readonly type: 'refused'; readonly message: string }

interface Unfinished {
  readonly head: MessageHead
  readonly stretches: Uint8Array[]
}

/**
 * Puts the commands of a stream together again, from its messages in the order of the stream. It starts empty, and is empty after each command.
 * So whoever starts again behind the last message of the last finished command gathers the same as one that never stopped. It
 * remembers no ids: a whole command that stands in the stream twice is finished twice.
 */
export class CommandGatherer {
  #unfinished: Unfinished | undefined

  /**
   * @param message copied where it is kept.
   * @throws CommandFormatError when the message is none, is of a newer version, or the parts of a command are not what was sent. The
   *   last voids the command, the others change nothing.
   */
  take(message: Uint8Array): Gathered {
    // Not a Buffer: its `slice` would return views.
    const bytes = new Uint8Array(message.buffer, message.byteOffset, message.byteLength)
    const head = readHead(bytes)
    if (head.part === 0) this.#unfinished = { head, stretches: [] }
    const unfinished = this.#unfinished
    const refusal = refusalOf(head, unfinished)
    if (unfinished === undefined || refusal !== undefined) return { type: 'refused', message: refusal! }
    unfinished.stretches.push(bytes.slice(HEAD_BYTES))
    if (head.part < head.parts - 1) return { type: 'unfinished' }
    this.#unfinished = undefined
    return finish(unfinished)
  }
}

interface MessageHead {
  readonly version: number
  readonly id: Uint8Array
  readonly part: number
  readonly parts: number
  readonly digest: Uint8Array
}

/** @returns copies. @throws CommandFormatError */
function readHead(message: Uint8Array): MessageHead {
  const refuse = (at: number, field: string, problem: string): never => {
    throw new CommandFormatError('malformed', at, field, problem)
  }
  const version = readVersion(message[0], 'version of the message')
  if (message.length <= HEAD_BYTES)
    refuse(0, 'message', `${message.length} bytes, ${HEAD_BYTES} are its head`)
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const part = view.getUint16(PART_AT, true)
  const parts = view.getUint16(PARTS_AT, true)
  if (parts < 1 || parts > MOST_PARTS)
    refuse(PARTS_AT, 'number of parts', `${parts} is not 1 to ${MOST_PARTS}`)
  if (part >= parts) refuse(PART_AT, 'part', `${part} of ${parts}`)
  const length = message.length - HEAD_BYTES
  if (length > PART_BYTES || (part < parts - 1 && length !== PART_BYTES))
    refuse(
      HEAD_BYTES,
      'bytes of the command',
      `${length} in part ${part} of ${parts}, a full part has ${PART_BYTES}`,
    )
  const [id, digest] = [message.slice(ID_AT, PART_AT), message.slice(DIGEST_AT, HEAD_BYTES)]
  return { version, id, part, parts, digest }
}

/** @returns undefined when the part is the next one of the unfinished command. */
function refusalOf(head: MessageHead, unfinished: Unfinished | undefined): string | undefined {
  const name = `part ${head.part} of ${head.parts} of command ${hex(head.id)}`
  if (unfinished === undefined) return `${name} continues no command`
  const { head: first, stretches } = unfinished
  if (!equalBytes(head.id, first.id)) return `${name} is not of command ${hex(first.id)}`
  if (head.version !== first.version)
    return `${name} is of version ${head.version}, its part 0 of ${first.version}`
  if (head.parts !== first.parts) return `${name}, which has ${first.parts} parts`
  if (!equalBytes(head.digest, first.digest)) return `${name} has another hash than its part 0`
  return head.part === stretches.length ? undefined : `${name}, the next one is ${stretches.length}`
}

/** @throws CommandFormatError */
function finish({ head, stretches }: Unfinished): Gathered {
  const command = new Uint8Array(stretches.reduce((size, { length }) => size + length, 0))
  for (const [part, stretch] of stretches.entries()) command.set(stretch, PART_BYTES * part)
  const { id, digest } = head
  const found = digestOf(head, command)
  if (!equalBytes(found, digest))
    throw new CommandFormatError(
      'wrong_hash',
      DIGEST_AT,
      'SHA-256',
      `command ${hex(id)} was sent with ${hex(digest)}, what came has ${hex(found)}`,
    )
  return { type: 'finished', id, command }
}

/** SHA-256 of all that makes the command: version, id and number of parts as in a message, then all its bytes. */
function digestOf(
  { version, id, parts }: Pick<MessageHead, 'version' | 'id' | 'parts'>,
  command: Uint8Array,
): Uint8Array {
  const head = new Uint8Array(ID_AT + COMMAND_ID_BYTES + 2)
  head[0] = version
  head.set(id, ID_AT)
  new DataView(head.buffer).setUint16(ID_AT + COMMAND_ID_BYTES, parts, true)
  return new Uint8Array(createHash('sha256').update(head).update(command).digest())
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
