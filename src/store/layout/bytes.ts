import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { uint256OfParts } from '../../protocol/uint256.js'

/** Integers and addresses in and out of byte arrays. Little-endian in values, big-endian in keys and for uint256. */

export function writeUint16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value
  bytes[offset + 1] = value >>> 8
}

export function readUint16(bytes: Uint8Array, offset: number): number {
  return bytes[offset]! | (bytes[offset + 1]! << 8)
}

export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value
  bytes[offset + 1] = value >>> 8
  bytes[offset + 2] = value >>> 16
  bytes[offset + 3] = value >>> 24
}

export function readUint32(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24)) >>>
    0
  )
}

/** Block numbers and Unix seconds: 48 bits. */
export function writeUint48(bytes: Uint8Array, offset: number, value: number): void {
  writeUint32(bytes, offset, value)
  writeUint16(bytes, offset + 4, Math.floor(value / 2 ** 32))
}

export function readUint48(bytes: Uint8Array, offset: number): number {
  return readUint32(bytes, offset) + readUint16(bytes, offset + 4) * 2 ** 32
}

export function writeUint32BigEndian(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24
  bytes[offset + 1] = value >>> 16
  bytes[offset + 2] = value >>> 8
  bytes[offset + 3] = value
}

export function writeUint48BigEndian(bytes: Uint8Array, offset: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  bytes[offset] = high >>> 8
  bytes[offset + 1] = high
  writeUint32BigEndian(bytes, offset + 2, value)
}

export function readUint48BigEndian(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! * 256 + bytes[offset + 1]!) * 2 ** 32 + readUint32BigEndian(bytes, offset + 2)
}

/** uint256, 32 bytes big-endian, as the contracts pack it. */
export function readUint256(bytes: Uint8Array, offset: number): bigint {
  return uint256OfParts((part) => readUint32BigEndian(bytes, offset + 4 * part))
}
