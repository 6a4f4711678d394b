import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import type { NetworkId } from '../../protocol/units.js'
import type { FieldSources, PackedRows, RowWriter } from '../../query/packedRows.js'
import type { ClaimRecord } from '../../query/records.js'
import { claimFields } from '../../store/layout/claimRow.js'
import { depositFields } from '../../store/layout/depositRow.js'
import { TOKEN_ADDRESS_AT } from '../../store/layout/smallRows.js'
import type { ShardView } from '../snapshot/shardView.js'
import { claimBases } from './claimPacker.js'
import type { RowPackers } from './rowPackers.js'

function sourcesOf(networkId: NetworkId): FieldSources {
  const { row: base, hash, sender, token, deposit } = claimBases
  return {
    transactionHash: { kind: 'hash', base: hash, offset: 0 },
    globalIndex: { kind: 'hash', base, offset: claimFields.globalIndex },
    amount: { kind: 'amount', base, offset: claimFields.amount },
    timestampSec: { kind: 'uint48', base, offset: claimFields.timestampSec },
    bridgeTransactionHash: { kind: 'hash', base: deposit, offset: depositFields.transactionHash },
    blockNumber: { kind: 'uint48', base, offset: claimFields.blockNumber },
    logIndex: { kind: 'uint32', base, offset: claimFields.logIndex },
    sourceNetwork: { kind: 'uint32', base, offset: claimFields.sourceNetwork },
    depositCount: { kind: 'uint32', base, offset: claimFields.depositCount },
    destinationNetwork: { kind: 'constant', json: String(networkId) },
    destinationAddress: { kind: 'address', base, offset: claimFields.destinationAddress },
    tokenNetwork: { kind: 'uint32', base: token, offset: 0 },
    tokenAddress: { kind: 'address', base: token, offset: TOKEN_ADDRESS_AT },
    caller: { kind: 'address', base: sender, offset: 0 },
    transactionSender: { kind: 'address', base: sender, offset: CHECKSUM_ADDRESS_BYTES },
  }
}

/** The same object each time: what presenters make of it is kept by it. */
const sourcesByNetwork = new Map<NetworkId, FieldSources>()

/** Claims of a page, to be written from the chunks that they are stored in. */
export class PackedClaims implements PackedRows<ClaimRecord> {
  readonly sources: FieldSources
  readonly #packers: RowPackers
  readonly #view: ShardView
  readonly #ordinals: readonly number[]
  readonly #makeRow: (ordinal: number) => ClaimRecord

  /** @param ordinals in the order of the answer, below the number of claims. */
  constructor(
    packers: RowPackers,
    view: ShardView,
    ordinals: readonly number[],
    makeRow: (ordinal: number) => ClaimRecord,
  ) {
    let sources = sourcesByNetwork.get(view.networkId)
    if (sources === undefined) {
      sources = sourcesOf(view.networkId)
      sourcesByNetwork.set(view.networkId, sources)
    }
    this.sources = sources
    this.#packers = packers
    this.#view = view
    this.#ordinals = ordinals
    this.#makeRow = makeRow
  }

  writeTo(writer: RowWriter, emit: (text: Uint8Array) => void, writeAlone: (row: ClaimRecord) => void): void {
    const packer = this.#packers.claims(writer, this.#view)
    const { arena } = packer
    packer.begin(emit)
    for (const ordinal of this.#ordinals) {
      if (packer.pack(ordinal)) continue
      arena.flush()
      writeAlone(this.#makeRow(ordinal))
    }
    arena.end()
  }
}
