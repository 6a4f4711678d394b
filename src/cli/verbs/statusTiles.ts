import type { NetworkSyncRecord } from '../../query/healthRecords.js'
import { visibleText } from '../../telemetry/visibleText.js'
import { progressBar, spellSeconds } from '../input/progressBar.js'
import { type EndpointAliases, endpointsOf, hasHead, isCutOff, nameOf, stateOf } from './networkState.js'

/** What `bds status --watch` shows at one moment. */
export interface StatusView {
  readonly origin: string
  /** As the service told last; empty before its first answer. */
  readonly networks: readonly NetworkSyncRecord[]
  /** First block that each network reads, where the service tells. */
  readonly startBlocks: ReadonlyMap<number, number>
  /** Blocks per second of each network, where known. */
  readonly rates: ReadonlyMap<number, number>
  /** What the operator calls endpoints. */
  readonly aliases: EndpointAliases
  /** Why nothing newer is shown, as the rest of a sentence about `origin`, and for how long; absent while the service answers. */
  readonly fault?: { readonly text: string; readonly forSec: number }
}

/** Width of a tile with its frame, and signs between two of them. */
const TILE_WIDTH = 46
const GAP = 1
/** Two signs of frame and two of space. */
const INNER_WIDTH = TILE_WIDTH - 4
const LABEL_WIDTH = 10

/** A line about the service, and one tile for each network, as many beside each other as `columns` allow. */
export function renderTiles(view: StatusView, columns: number): string[] {
  const { origin, networks, fault } = view
  const inSync = networks.filter((network) => network.is_synced).length
  const told =
    fault === undefined
      ? `${inSync} of ${networks.length} networks in sync`
      : `${fault.text} (for ${spellSeconds(fault.forSec)})${networks.length === 0 ? '' : '; what it told last:'}`
  const tiles = networks.map((network) => tile(network, view))
  const perRow = Math.max(1, Math.floor((columns + GAP) / (TILE_WIDTH + GAP)))
  const lines = [`${visibleText(origin)}  ${told}`]
  for (let first = 0; first < tiles.length; first += perRow) {
    const row = tiles.slice(first, first + perRow)
    // All tiles have the same number of lines.
    for (const at of row[0]!.keys()) lines.push(row.map((each) => each[at]).join(' '.repeat(GAP)))
  }
  return lines
}

function tile(network: NetworkSyncRecord, { rates, startBlocks, aliases, fault }: StatusView): string[] {
  const { network_id: id, current_block: head, synced_block: synced } = network
  const isKnown = hasHead(network) && !isCutOff(network)
  const lag = head - synced
  const rate = rates.get(id)
  const start = startBlocks.get(id) ?? 0
  const state = fault === undefined ? stateOf(network) : 'unknown'
  const rows: [label: string, value: string][] = [
    ['state', state],
    ['head', hasHead(network) ? grouped(head) : '-'],
    ['indexed', grouped(synced)],
    ['final', network.finalized_block === null ? '-' : grouped(network.finalized_block)],
    ['lag', isKnown ? `${grouped(lag)} blocks${secondsBehind(network)}` : '-'],
    [
      'rate',
      rate === undefined
        ? '-'
        : `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))} blocks/s${left(lag, rate, isKnown)}`,
    ],
    [
      'deposits',
      `${grouped(network.indexed_deposit_count)}, on chain ${count(network.contract_deposit_count)}`,
    ],
    ['claims', grouped(network.indexed_claim_count)],
    [
      'senders',
      network.unresolved_senders === 0 ? 'all known' : `${grouped(network.unresolved_senders)} open`,
    ],
    ['endpoint', fault === undefined ? endpointsInShort(network, aliases) : '-'],
    [
      'progress',
      isKnown && head > start ? progressBar(lag === 0 ? 1 : (synced - start) / (head - start), 24) : '-',
    ],
  ]
  const title = ` network ${id} `
  return [
    `┌─${title}${'─'.repeat(Math.max(0, TILE_WIDTH - 3 - title.length))}┐`,
    ...rows.map(([label, value]) => `│ ${fitted(label.padEnd(LABEL_WIDTH) + visibleText(value))} │`),
    `└${'─'.repeat(TILE_WIDTH - 2)}┘`,
  ]
}

/** The one that serves, and how many rest. */
function endpointsInShort(network: NetworkSyncRecord, aliases: EndpointAliases): string {
  const endpoints = endpointsOf(network)
  const used = endpoints.find(({ in_use: isInUse }) => isInUse)
  const resting = endpoints.filter(({ resting: reason }) => reason !== null).length
  const told = used === undefined ? '-' : nameOf(used.endpoint, aliases)
  return resting === 0 ? told : `${told}; ${resting} of ${endpoints.length} resting`
}

function fitted(text: string): string {
  return text.length > INNER_WIDTH ? `${text.slice(0, INNER_WIDTH - 1)}…` : text.padEnd(INNER_WIDTH)
}

function secondsBehind({ lag_seconds: seconds }: NetworkSyncRecord): string {
  return seconds === null || seconds === 0 ? '' : `, ${spellSeconds(seconds)}`
}

/** Time left until the head, where the network is behind and moves. */
function left(lag: number, rate: number, isKnown: boolean): string {
  return isKnown && lag > rate && rate > 0 ? `, ${spellSeconds(lag / rate)} left` : ''
}

function count(value: number | null): string {
  return value === null ? '-' : grouped(value)
}

/** `19234567` as `19,234,567`, whatever the language of the system. What answered may have sent no number. */
function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

interface Sample {
  readonly atMs: number
  readonly blocks: ReadonlyMap<number, number>
}

/** Rates count over this time: long enough for batches that take seconds, short enough to follow. */
const WINDOW_MS = 30_000

/** How fast networks index, from the answers of the last half minute. */
export class BlockRates {
  private samples: readonly Sample[] = []

  /** @param nowMs monotonic. */
  add(networks: readonly NetworkSyncRecord[], nowMs: number): void {
    const blocks = new Map(networks.map((network) => [network.network_id, network.synced_block]))
    this.samples = [...this.samples.filter(({ atMs }) => atMs >= nowMs - WINDOW_MS), { atMs: nowMs, blocks }]
  }

  /** Blocks per second of each network; none before the second sample, or where blocks were taken back. */
  rates(): ReadonlyMap<number, number> {
    const [first, last] = [this.samples[0], this.samples.at(-1)]
    const rates = new Map<number, number>()
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return rates
    for (const [networkId, block] of last.blocks) {
      const before = first.blocks.get(networkId)
      if (before !== undefined && block >= before)
        rates.set(networkId, (1000 * (block - before)) / (last.atMs - first.atMs))
    }
    return rates
  }
}
