import type { Hash } from '../../protocol/chainEvent.js'
import type { ClaimOrdinal, DepositCount, NetworkId } from '../../protocol/units.js'
import { readUint32, writeUint32 } from '../layout/bytes.js'
import { EVENT_PLACE_BYTES, type EventPlace, readEventPlace, writeEventPlace } from './eventPlace.js'

/** One UnsetClaim or UpdatedUnsetGlobalIndexHashChain as table `unsetClaims` holds it. */
export interface UnsetClaimRow extends EventPlace {
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /** The claim that it took out of force; undefined when none was in force here. */
  readonly claimOrdinal: ClaimOrdinal | undefined
  /** The hash chain behind it; undefined for UnsetClaim, which names none. */
  readonly hashChain: Hash | undefined
}

const at = {
  sourceNetwork: EVENT_PLACE_BYTES,
  depositCount: EVENT_PLACE_BYTES + 4,
  claimOrdinal: EVENT_PLACE_BYTES + 8,
  hashChain: EVENT_PLACE_BYTES + 12,
} as const

/** @returns fresh bytes: 60, and 32 of the hash chain where there is one. */
export function encodeUnsetClaimRow(row: UnsetClaimRow): Uint8Array {
  const bytes = new Uint8Array(at.hashChain + (row.hashChain?.length ?? 0))
  writeEventPlace(bytes, 0, row)
  writeUint32(bytes, at.sourceNetwork, row.sourceNetwork)
  writeUint32(bytes, at.depositCount, row.depositCount)
  writeUint32(bytes, at.claimOrdinal, row.claimOrdinal === undefined ? 0 : row.claimOrdinal + 1)
  if (row.hashChain !== undefined) bytes.set(row.hashChain, at.hashChain)
  return bytes
}

/** @returns hashes are copies. */
export function decodeUnsetClaimRow(bytes: Uint8Array): UnsetClaimRow {
  const claimPlusOne = readUint32(bytes, at.claimOrdinal)
  return {
    ...readEventPlace(bytes, 0),
    sourceNetwork: readUint32(bytes, at.sourceNetwork) as NetworkId,
    depositCount: readUint32(bytes, at.depositCount) as DepositCount,
    claimOrdinal: claimPlusOne === 0 ? undefined : ((claimPlusOne - 1) as ClaimOrdinal),
    hashChain: bytes.length === at.hashChain ? undefined : bytes.slice(at.hashChain),
  }
}

/** Table `claimsOutOfForce`, of a claim that a newer one replaced, or that was unset before schema 8. */
export const REPLACED_CLAIM = Uint8Array.of(0)

/** Number of the unset claim in a value of table `claimsOutOfForce`; undefined for REPLACED_CLAIM. */
export function unsetOrdinalOf(value: Uint8Array): number | undefined {
  return value.length < 4 ? undefined : readUint32(value, 0)
}
