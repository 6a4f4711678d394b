import type { Hasher } from '../../merkle/hasher.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { DEPOSITS_PER_WORD } from '../../protocol/claimedBitMap.js'
import { asNetworkId, type BlockNumber, type NetworkId } from '../../protocol/units.js'
import { CLAIM_LINK_BYTES, decodeClaimLink } from '../../store/layout/claimRow.js'
import { claimLinkKey, uint32Key, uint32PairKey } from '../../store/layout/keys.js'
import type { Counters } from '../../store/layout/metaValues.js'
import { decodeGerState, decodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import { CLAIM_LINKS_PER_CHUNK } from '../../store/layout/tables.js'
import { decodeTokenMappingRow } from '../../store/layout/tokenMappingRow.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { ContractState, CurrentMapping } from '../contractState.types.js'
import { readCounters, readEpoch } from '../position/chainPosition.js'
import { readLineages } from '../snapshot/tiles.js'
import { readDeposit } from '../snapshot/transactionLogs.js'

const HIGHEST_NETWORK = 0xffff_ffff
/** Chunks of claim links read in one call, 4 KB each. */
const CHUNKS_AT_ONCE = 16

/** The contracts' state as the stored events make it. Each call reads the newest state of `view`. */
export function openContractState(view: ReadView, hasher: Pick<Hasher, 'hashPair'>): ContractState {
  const counters = () => readCounters(view)
  const insertions = new InsertionChain(view, hasher)
  return {
    claimSources: () => listClaimSources(view),
    claimedWordsFrom: (sourceNetwork, from) => listClaimedWords(view, sourceNetwork, from),
    claimedWord({ sourceNetwork, word }) {
      let bits = 0n
      const first = word * DEPOSITS_PER_WORD
      for (let from = first; from < first + DEPOSITS_PER_WORD; ) {
        const end = Math.min(
          first + DEPOSITS_PER_WORD,
          from - (from % CLAIM_LINKS_PER_CHUNK) + CLAIM_LINKS_PER_CHUNK,
        )
        const chunk = view.get('claimLinks', claimLinkKey(sourceNetwork, from))
        for (let depositCount = from; chunk !== undefined && depositCount < end; depositCount++)
          if (decodeClaimLink(chunk, CLAIM_LINK_BYTES * (depositCount % CLAIM_LINKS_PER_CHUNK)) !== undefined)
            bits |= 1n << BigInt(depositCount - first)
        from = end
      }
      return bits
    },
    lastRootChange: () => findLastRootChange(view, counters()),
    currentMappings: (below, limit) => listMappings(view, Math.min(below, counters().tokenMappings), limit),
    isEmergency: () => counters().emergencyState === 1,
    insertionChain: () => insertions.read(counters().gerInjections),
    gerRemovals: () => counters().gerRemovals,
    isGerInForce(globalExitRoot) {
      const state = view.get('gerStates', globalExitRoot)
      return state !== undefined && decodeGerState(state).isInForce
    },
  }
}

/**
 * The newest block that certainly changed the local exit root. Mostly it is the block of the newest deposit. But a block that cuts the
 * tree and appends leaves may append the same leaves that it cut off, and so change nothing: then only deposits below the cut count.
 */
function findLastRootChange(view: ReadView, { deposits, lineage }: Counters): BlockNumber | undefined {
  let end = deposits
  for (const { cut } of readLineages(view, lineage).slice(1).reverse()) {
    if (end > cut && blockOfDeposit(view, end - 1) > blockOfDeposit(view, cut)) break
    end = Math.min(end, cut)
  }
  return end === 0 ? undefined : blockOfDeposit(view, end - 1)
}

function blockOfDeposit(view: ReadView, depositCount: number): BlockNumber {
  return readDeposit(view, depositCount).blockNumber
}

function listMappings(view: ReadView, below: number, limit: number): CurrentMapping[] {
  const mappings: CurrentMapping[] = []
  for (let ordinal = below - 1; ordinal >= 0 && mappings.length < limit; ordinal--) {
    const stored = view.get('tokenMappings', uint32Key(ordinal))
    if (stored === undefined) continue
    const { isCurrent, originNetwork, originTokenAddress, wrappedTokenAddress } =
      decodeTokenMappingRow(stored)
    if (!isCurrent || originTokenAddress.bytes.every((byte) => byte === 0)) continue
    mappings.push({
      ordinal,
      originNetwork,
      originTokenAddress: originTokenAddress.bytes.slice(),
      wrappedTokenAddress: wrappedTokenAddress.bytes.slice(),
    })
  }
  return mappings
}

function listClaimSources(view: ReadView): NetworkId[] {
  const sources: NetworkId[] = []
  for (let network = 0; network <= HIGHEST_NETWORK; network++) {
    const end = uint32PairKey(HIGHEST_NETWORK, HIGHEST_NETWORK)
    const [first] = view.list('claimLinks', { start: uint32PairKey(network, 0), end, limit: 1 })
    if (first === undefined) break
    network = readUint32BigEndian(first.key, 0)
    sources.push(asNetworkId(network))
  }
  return sources
}

/** Words of the next stored chunks. Goes by chunks, since an administrator can set a claim of any deposit count, far from all others. */
function listClaimedWords(view: ReadView, sourceNetwork: NetworkId, from: number): number[] {
  const start = claimLinkKey(sourceNetwork, from * DEPOSITS_PER_WORD)
  const end = uint32PairKey(sourceNetwork, HIGHEST_NETWORK)
  const words: number[] = []
  let next = from
  for (const { key, value } of view.list('claimLinks', { start, end, limit: CHUNKS_AT_ONCE })) {
    const firstDeposit = readUint32BigEndian(key, 4) * CLAIM_LINKS_PER_CHUNK
    const lastDeposit = firstDeposit + value.length / CLAIM_LINK_BYTES - 1
    next = Math.max(next, wordOf(firstDeposit))
    for (; next <= wordOf(lastDeposit); next++) words.push(next)
  }
  return words
}

function wordOf(depositCount: number): number {
  return Math.floor(depositCount / DEPOSITS_PER_WORD)
}

/** The hash chain over all injections. Each read adds the new ones. */
class InsertionChain {
  readonly #view: ReadView
  readonly #hasher: Pick<Hasher, 'hashPair'>
  #epoch = -1
  #count = 0
  #value: Hash = new Uint8Array(32)

  constructor(view: ReadView, hasher: Pick<Hasher, 'hashPair'>) {
    this.#view = view
    this.#hasher = hasher
  }

  /** @see GlobalExitRootManagerL2SovereignChain.insertGlobalExitRoot (agglayer-contracts) */
  read(count: number): Hash {
    const epoch = readEpoch(this.#view)
    if (epoch !== this.#epoch || count < this.#count) {
      this.#epoch = epoch
      this.#count = 0
      this.#value = new Uint8Array(32)
    }
    for (; this.#count < count; this.#count++) {
      const entry = this.#view.get('injectedGers', uint32Key(this.#count))
      if (entry === undefined) break
      this.#value = this.#hasher.hashPair(this.#value, decodeInjectedGerEntry(entry).globalExitRoot)
    }
    return this.#value
  }
}
