import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { decodeGlobalIndex, decodeV1Index } from '../../protocol/globalIndex.js'
import { readUint256 } from '../../store/layout/bytes.js'
import {
  CLAIM_BYTES,
  CLAIM_HASH_BYTES,
  CLAIM_LINK_BYTES,
  decodeClaimLink,
  decodeClaimRow,
} from '../../store/layout/claimRow.js'
import { claimLinkKey, uint32Key } from '../../store/layout/keys.js'
import { CLAIM_HASHES_PER_CHUNK, CLAIM_LINKS_PER_CHUNK, CLAIMS_PER_CHUNK } from '../../store/layout/tables.js'
import {
  ChainOrder,
  type ChunkedTable,
  chunksOf,
  countEntries,
  DamageError,
  entriesOf,
  expectEqual,
  type VerifyContext,
} from './check.js'

const claimTable: ChunkedTable = {
  table: 'claims',
  rowName: 'claim',
  rowBytes: CLAIM_BYTES,
  rowsPerChunk: CLAIMS_PER_CHUNK,
}

const hashTable: ChunkedTable = {
  table: 'claimHashes',
  rowName: 'transaction hash of claim',
  rowBytes: CLAIM_HASH_BYTES,
  rowsPerChunk: CLAIM_HASHES_PER_CHUNK,
}

/** Checks that no claim is missing, that claims are in the order of the chain, and that each belongs to the deposit that its global index names. */
export function checkClaims(context: VerifyContext): string {
  const { view, networkId, counters } = context
  const order = new ChainOrder(context, 'claim')
  for (const { first, bytes, rows } of chunksOf(view, claimTable, counters.claims))
    for (let index = 0; index < rows; index++) {
      const ordinal = first + index
      const row = decodeClaimRow(bytes, CLAIM_BYTES * index)
      order.expectNext(ordinal, row.blockNumber, row.logIndex)
      const globalIndex = readUint256(row.globalIndex, 0)
      const named = [decodeGlobalIndex(globalIndex), decodeV1Index(globalIndex, networkId)]
      const isNamed = named.some(
        (parts) => parts.sourceNetwork === row.sourceNetwork && parts.depositCount === row.depositCount,
      )
      if (!isNamed)
        throw new DamageError(
          `claim ${ordinal} is of deposit ${row.depositCount} of network ${row.sourceNetwork}, but its global index ${globalIndex} names another`,
        )
    }
  for (const _ of chunksOf(view, hashTable, counters.claims));
  return `${counters.claims} claims`
}

/** Checks that each claim in force, and no other, is linked from its deposit, and that all others are marked as out of force. */
export function checkClaimLinks({ view, counters }: VerifyContext): string {
  let inForce = 0
  for (const { first, bytes, rows } of chunksOf(view, claimTable, counters.claims))
    for (let index = 0; index < rows; index++) {
      const ordinal = first + index
      const { sourceNetwork, depositCount } = decodeClaimRow(bytes, CLAIM_BYTES * index)
      const isOut = view.get('claimsOutOfForce', uint32Key(ordinal)) !== undefined
      const chunk = view.get('claimLinks', claimLinkKey(sourceNetwork, depositCount))
      const link = chunk && decodeClaimLink(chunk, CLAIM_LINK_BYTES * (depositCount % CLAIM_LINKS_PER_CHUNK))
      const place = `claim of deposit ${depositCount} of network ${sourceNetwork}`
      if (isOut) {
        if (link === ordinal) throw new DamageError(`${place} is claim ${ordinal}, which is out of force`)
        continue
      }
      expectEqual(place, `claim ${ordinal}`, link === undefined ? 'none' : `claim ${link}`)
      inForce++
    }
  let links = 0
  for (const { key, value } of entriesOf(view, 'claimLinks'))
    for (let slot = 0; slot < CLAIM_LINKS_PER_CHUNK; slot++) {
      const link = decodeClaimLink(value, CLAIM_LINK_BYTES * slot)
      if (link === undefined) continue
      links++
      if (link >= counters.claims)
        throw new DamageError(
          `deposit ${CLAIM_LINKS_PER_CHUNK * readUint32BigEndian(key, 4) + slot} of network ${readUint32BigEndian(key, 0)} is linked to claim ${link}, only ${counters.claims} are counted`,
        )
    }
  expectEqual('deposits with a claim in force', inForce, links)
  return `${links} links`
}

/** Checks the counter of claims out of force. */
export function checkClaimsOutOfForce({ view, counters }: VerifyContext): string {
  expectEqual('claims out of force', counters.claimsOutOfForce, countEntries(view, 'claimsOutOfForce'))
  return `${counters.claimsOutOfForce} out of force`
}
