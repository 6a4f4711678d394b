import { equalBytes } from '../../protocol/abiBytes.js'
import { encodeHex } from '../../protocol/hex.js'
import type { BlockNumber } from '../../protocol/units.js'
import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { blockKey } from '../../store/layout/keys.js'
import { decodeHeader } from '../../store/layout/smallRows.js'
import { readFinalized, readUndoFloor } from '../position/chainPosition.js'
import { DamageError, entriesOf, expectHash, expectStored, LAST_KEY, type VerifyContext } from './check.js'

/** Checks that checkpoint, stored headers, finality and undo agree. */
export function checkPosition({ view, checkpoint, counters }: VerifyContext): string {
  if (checkpoint === undefined) {
    const { deposits, claims, l1InfoLeaves } = counters
    if (deposits + claims + l1InfoLeaves > 0)
      throw new DamageError(
        `there is no checkpoint, but ${deposits} deposits, ${claims} claims and ${l1InfoLeaves} L1 info leaves are counted`,
      )
    return 'nothing indexed yet'
  }
  const finalized = readFinalized(view)
  if (finalized !== undefined && finalized > checkpoint.number)
    throw new DamageError(`block ${finalized} is final, after the checkpoint ${checkpoint.number}`)
  const place = `header of the checkpoint, block ${checkpoint.number}`
  const atCheckpoint = decodeHeader(
    checkpoint.number,
    expectStored(place, view.get('headers', blockKey(checkpoint.number))),
  )
  expectHash(place, checkpoint.hash, atCheckpoint.hash)
  let before = atCheckpoint
  let kept = 0
  for (const { key, value } of entriesOf(view, 'headers')) {
    const header = decodeHeader(readUint48BigEndian(key, 0) as BlockNumber, value)
    if (header.number > checkpoint.number)
      throw new DamageError(`header of block ${header.number} is stored, after the checkpoint`)
    const { parentHash } = header
    const isNext = kept > 0 && header.number === before.number + 1
    if (isNext && parentHash !== undefined && !equalBytes(parentHash, before.hash))
      throw new DamageError(
        `block ${header.number} names parent ${encodeHex(parentHash)}, but block ${before.number} is ${encodeHex(before.hash)}`,
      )
    before = header
    kept++
  }
  const undoFloor = readUndoFloor(view)
  const [oldest] = view.list('undo', { start: Uint8Array.of(0), end: LAST_KEY, limit: 1 })
  const [newest] = view.list('undo', { start: LAST_KEY, end: Uint8Array.of(0), limit: 1, reverse: true })
  if (oldest !== undefined && readUint48BigEndian(oldest.key, 0) <= undoFloor)
    throw new DamageError(
      `undo of block ${readUint48BigEndian(oldest.key, 0)} is kept, at or below the undo floor ${undoFloor}`,
    )
  if (newest !== undefined && readUint48BigEndian(newest.key, 0) > checkpoint.number)
    throw new DamageError(
      `undo of block ${readUint48BigEndian(newest.key, 0)} is kept, after the checkpoint ${checkpoint.number}`,
    )
  return `block ${checkpoint.number}, ${kept} headers`
}
