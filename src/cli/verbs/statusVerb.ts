import { setTimeout as delay } from 'node:timers/promises'
import type { NetworkSyncRecord, NetworksRecord, SyncStatusRecord } from '../../query/healthRecords.js'
import { type ExitCode, exitCodes } from '../../service/exitCodes.js'
import { monotonicMs } from '../../telemetry/clocks.js'
import { visibleJson, visibleText } from '../../telemetry/visibleText.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { configuredAliases, configuredUrl } from '../input/configuredUrl.js'
import { UsageError, type Verb } from '../input/verb.js'
import {
  type EndpointAliases,
  endpointState,
  endpointsOf,
  hasHead,
  isCutOff,
  nameOf,
  stateOf,
} from './networkState.js'
import { BlockRates, renderTiles } from './statusTiles.js'

const PATH = '/bridge/v1/sync-status'
const LONGEST_WAIT_MS = 3_000
const WATCH_EVERY_MS = 2_000

/** `bds status`: the sync status of a running service, as a table. */
export const status: Verb = {
  help: [
    'Usage: bds status [--url URL | --config FILE] [--watch] [--json] [flags]',
    '',
    'Shows how far each network of the running service has synced. Ends with 0 when every network is in sync, with 5 when one is',
    'not or the service does not answer.',
    '',
    '  --url URL      address of the API, without a path; default http.host and http.port of the configuration, or',
    '                 without one 127.0.0.1:5577',
    '  --watch        show it again every two seconds, until Ctrl-C; on a terminal one tile for each network, with rate and time left',
    '  --json         the unchanged answer of the service',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches } = readArguments(args, {
      ...configOptions,
      url: { type: 'string' },
      watch: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const url = values.url ?? configuredUrl('http', values)
    const aliases = values.url === undefined ? configuredAliases(values) : new Map<string, string>()
    if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address`)
    if (!switches.has('watch')) return show(url, await ask(url), aliases, switches.has('json'))
    const unread = new AbortController()
    process.stdout.once('error', () => unread.abort())
    const isTiled = process.stdout.isTTY === true && !switches.has('json')
    const paint = isTiled
      ? tilePainter(url, aliases)
      : async () => show(url, await ask(url), aliases, switches.has('json'))
    for (;;) {
      const code = await paint()
      await delay(WATCH_EVERY_MS, undefined, { signal: unread.signal }).catch(() => undefined)
      if (unread.signal.aborted) return code
    }
  },
}

interface Answer {
  /** Undefined where there is no sync status; `fault` says why, as the rest of a sentence about the address. */
  readonly record?: SyncStatusRecord
  readonly text: string
  readonly fault: string
}

async function ask(url: string): Promise<Answer> {
  try {
    const response = await fetch(new URL(PATH, url), { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
    const text = await response.text()
    const record = response.status === 200 ? syncStatusOf(text) : undefined
    if (record !== undefined) return { record, text, fault: '' }
    const answer = response.status === 200 ? 'something else' : response.status
    return { text, fault: `answered ${answer} to ${PATH}: is this the API's address?` }
  } catch {
    return { text: '', fault: 'does not answer' }
  }
}

function show(
  url: string,
  { record, text, fault }: Answer,
  aliases: EndpointAliases,
  isJson: boolean,
): ExitCode {
  if (record === undefined) {
    console.error(`bds: ${new URL(url).origin} ${fault}`)
    return exitCodes.unhealthy
  }
  console.log(isJson ? visibleJson(text.trim()) : renderStatus(record.networks, aliases))
  return codeOf(record)
}

function codeOf({ networks }: SyncStatusRecord): ExitCode {
  return networks.every((network) => network.is_synced) ? exitCodes.ok : exitCodes.unhealthy
}

/** @returns a function that asks once and paints all tiles anew, over those of before. */
function tilePainter(url: string, aliases: EndpointAliases): () => Promise<ExitCode> {
  const rates = new BlockRates()
  let last: SyncStatusRecord | undefined
  let answeredAtMs = monotonicMs()
  let startBlocks: ReadonlyMap<number, number> = new Map()
  process.stdout.write(CLEAR)
  return async () => {
    const { record, fault } = await ask(url)
    const nowMs = monotonicMs()
    if (record !== undefined) {
      if (startBlocks.size === 0) startBlocks = await askStartBlocks(url)
      last = record
      answeredAtMs = nowMs
      rates.add(record.networks, nowMs)
    }
    const lines = renderTiles(
      {
        origin: new URL(url).origin,
        networks: last?.networks ?? [],
        startBlocks,
        rates: rates.rates(),
        aliases,
        ...(record === undefined
          ? { fault: { text: fault, forSec: Math.max(1, (nowMs - answeredAtMs) / 1000) } }
          : {}),
      },
      process.stdout.columns ?? 80,
    )
    // Over the old picture and not after clearing it, which would flicker.
    process.stdout.write(
      `${HOME}${lines.map((line) => `${line}${REST_OF_LINE}\n`).join('')}${REST_OF_SCREEN}`,
    )
    return record === undefined ? exitCodes.unhealthy : codeOf(record)
  }
}

const HOME = '\u001b[H'
const CLEAR = `${HOME}\u001b[2J`
const REST_OF_LINE = '\u001b[K'
const REST_OF_SCREEN = '\u001b[J'

/** Where each network begins; empty where the service does not tell. */
async function askStartBlocks(url: string): Promise<ReadonlyMap<number, number>> {
  try {
    const response = await fetch(new URL('/bridge/v1/networks', url), {
      signal: AbortSignal.timeout(LONGEST_WAIT_MS),
    })
    const { networks } = (await response.json()) as NetworksRecord
    return new Map(networks.map(({ network_id, start_block }) => [network_id, start_block]))
  } catch {
    return new Map()
  }
}

/** @returns undefined when the text is not a sync status: another server may answer 200 to anything. */
function syncStatusOf(text: string): SyncStatusRecord | undefined {
  try {
    const record = JSON.parse(text) as SyncStatusRecord | null
    return Array.isArray(record?.networks) ? record : undefined
  } catch {
    return undefined
  }
}

const columns: readonly (readonly [title: string, cell: (network: NetworkSyncRecord) => string])[] = [
  ['network', ({ network_id }) => String(network_id)],
  ['head', (network) => (hasHead(network) ? String(network.current_block) : '-')],
  ['indexed', ({ synced_block }) => String(synced_block)],
  ['final', ({ finalized_block }) => String(finalized_block ?? '-')],
  // Without a known head there is no lag to show.
  [
    'lag',
    (network) =>
      isCutOff(network) || !hasHead(network) ? '-' : String(network.current_block - network.synced_block),
  ],
  ['seconds', ({ lag_seconds }) => String(lag_seconds ?? '-')],
  ['deposits', ({ indexed_deposit_count }) => String(indexed_deposit_count)],
  // May be lower than `deposits`, which goes on growing after the comparison.
  ['on chain, last compared', ({ contract_deposit_count }) => String(contract_deposit_count ?? '-')],
  ['claims', ({ indexed_claim_count }) => String(indexed_claim_count)],
  ['senders open', ({ unresolved_senders }) => String(unresolved_senders)],
  ['state', stateOf],
]

/**
 * One line per network under a line of titles, and below them one per endpoint. What answered may be another server: a terminal obeys
 * nothing in it.
 */
export function renderStatus(
  networks: readonly NetworkSyncRecord[],
  aliases: EndpointAliases = new Map(),
): string {
  const table = alignRows([
    columns.map(([title]) => title),
    ...networks.map((network) => columns.map(([, cell]) => cell(network))),
  ])
  const endpoints = networks
    .flatMap(endpointsOf)
    .map((endpoint) => [nameOf(endpoint.endpoint, aliases), endpointState(endpoint)])
  return endpoints.length === 0 ? table : `${table}\n\n${alignRows([['endpoint', 'state'], ...endpoints])}`
}

/** Aligns all columns to the right, but the last one to the left. */
function alignRows(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(visibleText))
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
