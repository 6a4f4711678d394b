import { checksumMask } from '../../protocol/checksumAddress.js'
import {
  decodeSenderRow,
  ordinalOfSenderRow,
  SENDER_BYTES,
  senderAdditionKey,
  senderKinds,
  senderNotes,
} from '../../store/layout/senderRow.js'
import { listKinds } from '../../store/layout/tables.js'
import { listHas } from '../sets/ordinalList.js'
import { readList } from '../snapshot/listReads.js'
import { listedAddresses } from '../snapshot/senderOverlay.js'
import { SenderReads } from '../snapshot/senderReads.js'
import { SnapshotState } from '../snapshot/snapshotState.js'
import {
  countEntries,
  DamageError,
  entriesOf,
  expectEqual,
  expectHash,
  expectStored,
  type VerifyContext,
} from './check.js'

/**
 * Checks corrected senders: each belongs to a row below the watermark, and the row is listed under each of its addresses, either
 * in the stored list or in the additions to it. The additions hold nothing else. Also checks that each note belongs to a row
 * whose sender is asked for again.
 */
export function checkSenderOverlay(context: VerifyContext): string {
  const { view, networkId, hasher, counters } = context
  const state = new SnapshotState(view)
  const kinds = {
    deposit: { reads: new SenderReads('deposit', view, state, networkId), list: listKinds.depositsBySender },
    claim: { reads: new SenderReads('claim', view, state, networkId), list: listKinds.claimsBySender },
  }
  const kindOf = (key: Uint8Array) => (key[0] === senderKinds.deposit ? 'deposit' : 'claim')
  let corrected = 0
  let added = 0
  for (const { key, value } of entriesOf(view, 'senderCorrections')) {
    const kind = kindOf(key)
    const ordinal = ordinalOfSenderRow(key)
    const { reads, list } = kinds[kind]
    const place = `corrected sender of ${kind} ${ordinal}`
    if (key[0]! > senderKinds.claim || ordinal >= reads.resolved)
      throw new DamageError(`${place} belongs to no row with a sender, only ${reads.resolved} rows have one`)
    expectEqual(`${place}, bytes`, SENDER_BYTES, value.length)
    const row = expectStored(place, decodeSenderRow(value, 0))
    for (const { bytes, checksumMask: mask } of [row.caller, row.transactionSender])
      expectHash(
        `${place}, EIP-55 mask`,
        checksumMask(bytes, (text) => hasher.hash(text)),
        mask,
      )
    for (const address of listedAddresses(row)) {
      const isAdded = view.get('senderAdditions', senderAdditionKey(kind, address, ordinal)) !== undefined
      const isListed = listHas(readList(view, networkId, list, address), ordinal)
      if (isAdded === isListed)
        throw new DamageError(
          `${place} is in ${isAdded ? 'its list and also in the additions to it' : 'neither its list nor the additions to it'}`,
        )
      if (isAdded) added++
    }
    corrected++
  }
  expectEqual('ordinals added to lists of senders', added, countEntries(view, 'senderAdditions'))
  let noted = 0
  for (const { key, value } of entriesOf(view, 'senderNotes')) {
    noted++
    const ordinal = ordinalOfSenderRow(key)
    if (key[0] === senderKinds.archivedDeposit) {
      if (ordinal >= counters.archivedDeposits)
        throw new DamageError(
          `a note names archived deposit ${ordinal}, ${counters.archivedDeposits} are counted`,
        )
      continue
    }
    const kind = kindOf(key)
    const { reads } = kinds[kind]
    if (ordinal >= reads.resolved)
      throw new DamageError(
        `a note names the sender of ${kind} ${ordinal}, only ${reads.resolved} ${kind}s have one`,
      )
    const hasNoSender = reads.find(ordinal) === undefined
    if (hasNoSender !== (value[0] === senderNotes.unknown))
      throw new DamageError(`the note of ${kind} ${ordinal} does not agree with its sender`)
  }
  return `${corrected} corrected senders, ${noted} to be asked for again`
}
