import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/** The answer's content-encoding is unknown, or the body is not encoded that way. The message is safe to show. */
export class UnreadableCoding extends Error {
  override readonly name = 'UnreadableCoding'
}

type Unpacker = (firstByte: number) => Transform | undefined

const GZIP_MAGIC = 0x1f
/** Low half of a zlib stream's first byte. Some servers send deflate without the zlib header. */
const ZLIB_METHOD = 8
const JSON_STARTS = new Set(Buffer.from('{[ \n\r\t'))

// A gateway may unpack an answer and leave the header as it was: then JSON begins at once.
const gunzip: Unpacker = (first) => (JSON_STARTS.has(first) ? undefined : createGunzip())
const unpackers: Readonly<Record<string, Unpacker>> = {
  '': () => undefined,
  identity: () => undefined,
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: (first) => ((first & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
}

/**
 * What unpacks an answer that begins with `firstByte`; undefined when it is not packed.
 * @throws UnreadableCoding
 */
export function createUnpacker(coding: string | undefined, firstByte: number): Transform | undefined {
  const name = coding?.trim().toLowerCase() ?? ''
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined
  // Some servers put a character set there.
  if (unpacker === undefined && JSON_STARTS.has(firstByte)) return undefined
  if (unpacker === undefined)
    throw new UnreadableCoding(`is encoded as ${nameable(name)}, which is not supported`)
  if (unpacker === gunzip && firstByte !== GZIP_MAGIC && !JSON_STARTS.has(firstByte))
    throw new UnreadableCoding(`is not encoded as ${name}, although its header says so`)
  return unpacker(firstByte)
}

/** The error for a body that could not be decoded. */
export function brokenCoding(coding: string | undefined): UnreadableCoding {
  return new UnreadableCoding(
    `can't be decoded as its header says (${nameable(coding?.trim().toLowerCase() ?? '')})`,
  )
}

/** The endpoint wrote the header: nothing long or unusual of it may go into a log. */
const nameable = (coding: string): string =>
  /^[a-z0-9][a-z0-9 ,+-]{0,30}$/.test(coding) ? coding : 'something'
