import { bridgeEventAt, readUint32BigEndian, WORD } from '../protocol/abiBytes.js'
import type { DepositEvent, EventPosition } from '../protocol/chainEvent.js'
import { uint256OfParts } from '../protocol/uint256.js'
import { asDepositCount, asNetworkId } from '../protocol/units.js'

/**
 * Decodes a BridgeEvent, also in encodings that contracts do not write: the ABI lets the metadata lie anywhere in the data,
 * and nothing is said of the bytes above an address.
 * @param start byte at which the data begin. @returns an event whose byte fields are copies.
 * @throws RangeError when the data end too early, or a value is too large for its type.
 */
export function decodeBridgeEvent(
  bytes: Uint8Array,
  start: number,
  length: number,
  { blockNumber, logIndex, transactionHash }: EventPosition,
): DepositEvent {
  const end = start + length
  const uint32 = (at: number): number => {
    if (at + WORD > end) throw new RangeError('the data end too early')
    for (let byte = at; byte < at + 28; byte++)
      if (bytes[byte] !== 0) throw new RangeError('a value is too large for its type')
    return readUint32BigEndian(bytes, at + 28)
  }
  const leafType = uint32(start)
  if (leafType > 0xff) throw new RangeError(`${leafType} is not a uint8`)
  const lengthAt = start + uint32(start + 6 * WORD)
  const metadataAt = lengthAt + WORD
  const metadataEnd = metadataAt + uint32(lengthAt)
  if (metadataEnd > end) throw new RangeError('the data end too early')
  return {
    type: 'deposit',
    ...{ blockNumber, logIndex, transactionHash },
    leafType,
    originNetwork: asNetworkId(uint32(start + WORD)),
    originAddress: addressAt(bytes, start + bridgeEventAt.originAddress),
    destinationNetwork: asNetworkId(uint32(start + 3 * WORD)),
    destinationAddress: addressAt(bytes, start + bridgeEventAt.destinationAddress),
    amount: uint256At(bytes, start + bridgeEventAt.amount),
    metadata: bytes.slice(metadataAt, metadataEnd),
    depositCount: asDepositCount(uint32(start + 7 * WORD)),
    sender: null,
  }
}

export function addressAt(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.slice(at, at + 20)
}

export function uint256At(bytes: Uint8Array, at: number): bigint {
  return uint256OfParts((part) => readUint32BigEndian(bytes, at + 4 * part))
}
