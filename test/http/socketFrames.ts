/** Headers of a request for a WebSocket. */
export const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
] as const

/** What the server makes of that key: the example of RFC 6455. */
export const ACCEPTED_KEY = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

interface FrameOptions {
  /** Whether the message ends with it. */
  readonly isLast?: boolean
  readonly isMasked?: boolean
  /** In the place of the payload's own length. */
  readonly length?: number
}

/** One frame as a client sends it, in latin1. */
export function frame(
  opcode: number,
  payload: string,
  { isLast = true, isMasked = true, length = payload.length }: FrameOptions = {},
): string {
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = (isLast ? 0x80 : 0) | opcode
  const mask = isMasked ? 0x80 : 0
  if (head.length === 2) head[1] = mask | length
  else if (head.length === 4) {
    head[1] = mask | 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = mask | 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  // A mask of zeros leaves the payload as it is.
  return head.toString('latin1') + (isMasked ? '\0\0\0\0' : '') + payload
}

export interface Frame {
  readonly opcode: number
  readonly payload: string
}

/** The frames of a server, which have no mask and are shorter than 64 KiB. */
export function framesIn(bytes: string): Frame[] {
  const frames: Frame[] = []
  let at = 0
  while (at + 2 <= bytes.length) {
    const opcode = bytes.charCodeAt(at) & 15
    let length = bytes.charCodeAt(at + 1)
    at += 2
    if (length === 126) {
      length = bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1)
      at += 2
    }
    frames.push({ opcode, payload: bytes.slice(at, at + length) })
    at += length
  }
  return frames
}

/** The code with which the server has ended the connection; undefined for none. */
export function closeCodeIn(bytes: string): number | undefined {
  const close = framesIn(bytes).find(({ opcode }) => opcode === opcodes.close)
  return close && close.payload.charCodeAt(0) * 256 + close.payload.charCodeAt(1)
}
