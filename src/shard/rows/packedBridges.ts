import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import type { NetworkId } from '../../protocol/units.js'
import type { FieldSources, PackedRows, RowWriter } from '../../query/packedRows.js'
import type { BridgeRecord } from '../../query/records.js'
import { depositFields } from '../../store/layout/depositRow.js'
import { TOKEN_ADDRESS_AT } from '../../store/layout/smallRows.js'
import type { ShardView } from '../snapshot/shardView.js'
import { bridgeBases, bridgeValues } from './bridgePacker.js'
import type { RowPackers } from './rowPackers.js'

/** Mainnet flag, or rollup index: what stands above the deposit count in a canonical global index. 56 hexadecimal digits. */
function globalIndexHead(networkId: NetworkId): string {
  return (networkId === 0 ? 1n << 32n : BigInt(networkId - 1)).toString(16).padStart(56, '0')
}

function sourcesOf(networkId: NetworkId): FieldSources {
  const { row: base, sender, token, origin, claimHash, metadata } = bridgeBases
  const { depositCount, metadataLength, ready, l1InfoTreeIndex } = bridgeValues
  return {
    transactionHash: { kind: 'hash', base, offset: depositFields.transactionHash },
    depositCount: { kind: 'value', value: depositCount },
    sourceNetwork: { kind: 'constant', json: String(networkId) },
    destinationNetwork: { kind: 'uint32', base, offset: depositFields.destinationNetwork },
    originAddress: { kind: 'address', base: origin, offset: 0 },
    destinationAddress: { kind: 'address', base, offset: depositFields.destinationAddress },
    amount: { kind: 'amount', base, offset: depositFields.amount },
    timestampSec: { kind: 'uint48', base, offset: depositFields.timestampSec },
    readyForClaim: { kind: 'flag', value: ready },
    blockNumber: { kind: 'uint48', base, offset: depositFields.blockNumber },
    logIndex: { kind: 'uint32', base, offset: depositFields.logIndex },
    leafType: { kind: 'uint8', base, offset: depositFields.leafType },
    tokenNetwork: { kind: 'uint32', base: token, offset: 0 },
    tokenAddress: { kind: 'address', base: token, offset: TOKEN_ADDRESS_AT },
    metadata: { kind: 'bytes', base: metadata, lengthValue: metadataLength },
    transactionSender: { kind: 'address', base: sender, offset: CHECKSUM_ADDRESS_BYTES },
    globalIndex: { kind: 'hexValue', value: depositCount, head: globalIndexHead(networkId) },
    claimTransactionHash: { kind: 'hash', base: claimHash, offset: 0 },
    l1InfoTreeIndex: { kind: 'value', value: l1InfoTreeIndex },
  }
}

/** The same object each time: what presenters make of it is kept by it. */
const sourcesByNetwork = new Map<NetworkId, FieldSources>()

/** Bridges of a page, to be written from the chunks that they are stored in. */
export class PackedBridges implements PackedRows<BridgeRecord> {
  readonly sources: FieldSources
  readonly #packers: RowPackers
  readonly #source: ShardView
  readonly #depositCounts: readonly number[]
  readonly #makeRow: (depositCount: number) => BridgeRecord

  /** @param depositCounts in the order of the answer, below the number of deposits. */
  constructor(
    packers: RowPackers,
    source: ShardView,
    depositCounts: readonly number[],
    makeRow: (depositCount: number) => BridgeRecord,
  ) {
    let sources = sourcesByNetwork.get(source.networkId)
    if (sources === undefined) {
      sources = sourcesOf(source.networkId)
      sourcesByNetwork.set(source.networkId, sources)
    }
    this.sources = sources
    this.#packers = packers
    this.#source = source
    this.#depositCounts = depositCounts
    this.#makeRow = makeRow
  }

  writeTo(
    writer: RowWriter,
    emit: (text: Uint8Array) => void,
    writeAlone: (row: BridgeRecord) => void,
  ): void {
    const packer = this.#packers.bridges(writer, this.#source)
    const { arena } = packer
    packer.begin(emit)
    for (const depositCount of this.#depositCounts) {
      if (packer.pack(depositCount)) continue
      arena.flush()
      writeAlone(this.#makeRow(depositCount))
    }
    arena.end()
  }
}
