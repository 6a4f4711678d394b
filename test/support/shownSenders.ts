import type { NetworkId } from '../../src/protocol/units.js'
import { SenderReads } from '../../src/shard/snapshot/senderReads.js'
import { SnapshotState } from '../../src/shard/snapshot/snapshotState.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { hex } from './shardContents.js'

const kinds = ['deposit', 'claim'] as const

/** All that queries show of senders, by row and by address. A corrected row must look like any other. */
export function shownSenders(view: ReadView, networkId: NetworkId): Record<string, string> {
  const state = new SnapshotState(view)
  const told: Record<string, string> = {}
  for (const kind of kinds) {
    const reads = new SenderReads(kind, view, state, networkId)
    const addresses = new Map<string, Uint8Array>()
    for (let ordinal = 0; ordinal < reads.resolved; ordinal++) {
      const row = reads.find(ordinal)
      const shown = row === undefined ? [] : [row.caller.bytes, row.transactionSender.bytes]
      told[`sender of ${kind} ${ordinal}`] = shown.map(hex).join()
      for (const address of shown) addresses.set(hex(address), address)
    }
    for (const [text, address] of addresses) {
      const list = reads.by(address)
      told[`${kind}s of ${text}`] = list.slice(0, list.length).join()
    }
  }
  return told
}
