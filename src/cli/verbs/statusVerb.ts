import { setTimeout as delay } from 'node:timers/promises'
import type { HealthReason } from '../../query/healthReasons.js'
import type { NetworkSyncRecord, SyncStatusRecord } from '../../query/healthRecords.js'
import { type ExitCode, exitCodes } from '../../service/exitCodes.js'
import { visibleJson, visibleText } from '../../telemetry/visibleText.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { configuredUrl } from '../input/configuredUrl.js'
import { UsageError, type Verb } from '../input/verb.js'

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
    '  --watch        show it again every two seconds, until Ctrl-C',
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
    if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address`)
    const unread = new AbortController()
    process.stdout.once('error', () => unread.abort())
    for (;;) {
      const code = await show(new URL(PATH, url), switches)
      if (!switches.has('watch')) return code
      await delay(WATCH_EVERY_MS, undefined, { signal: unread.signal }).catch(() => undefined)
      if (unread.signal.aborted) return code
    }
  },
}

async function show(url: URL, switches: ReadonlySet<string>): Promise<ExitCode> {
  let status: number
  let text: string
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT_MS) })
    status = response.status
    text = await response.text()
  } catch {
    console.error(`bds: ${url.origin} does not answer`)
    return exitCodes.unhealthy
  }
  const record = status === 200 ? syncStatusOf(text) : undefined
  if (record === undefined) {
    const answer = status === 200 ? 'something else' : status
    console.error(`bds: ${url.origin} answered ${answer} to ${PATH}: is this the API's address?`)
    return exitCodes.unhealthy
  }
  if (switches.has('watch') && !switches.has('json') && process.stdout.isTTY) console.clear()
  console.log(switches.has('json') ? visibleJson(text.trim()) : renderStatus(record.networks))
  return record.networks.every((network) => network.is_synced) ? exitCodes.ok : exitCodes.unhealthy
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
  ['head', ({ current_block }) => String(current_block)],
  ['indexed', ({ synced_block }) => String(synced_block)],
  ['final', ({ finalized_block }) => String(finalized_block ?? '-')],
  // Without a known head there is no lag to show.
  ['lag', (network) => (isCutOff(network) ? '-' : String(network.current_block - network.synced_block))],
  ['seconds', ({ lag_seconds }) => String(lag_seconds ?? '-')],
  ['deposits', ({ indexed_deposit_count }) => String(indexed_deposit_count)],
  // May be lower than `deposits`, which goes on growing after the comparison.
  ['on chain, last compared', ({ contract_deposit_count }) => String(contract_deposit_count ?? '-')],
  ['claims', ({ indexed_claim_count }) => String(indexed_claim_count)],
  ['senders open', ({ unresolved_senders }) => String(unresolved_senders)],
  ['state', stateOf],
]

const STATES: { readonly [K in HealthReason]?: string } = {
  rpc: 'no endpoint answers',
  behind: 'the head is below what is indexed',
  stalled: 'no new block comes',
  emergency_state: 'the bridge is in emergency state',
}

function isCutOff({ reasons }: NetworkSyncRecord): boolean {
  return reasons?.includes('rpc') === true
}

/** What the column `state` shows: the network's reasons. `syncing` is shown only when it is the only one. */
function stateOf({ halted, is_synced, reasons = [] }: NetworkSyncRecord): string {
  const states = reasons
    .filter((reason) => reason !== 'halted' && reason !== 'disk' && reason !== 'syncing')
    .map((reason) => (STATES[reason] === undefined ? reason : `${reason}: ${STATES[reason]}`))
  if (halted !== null) states.unshift(`halted: ${halted}`)
  if (states.length === 0) return is_synced ? 'in sync' : 'syncing'
  return (is_synced ? ['in sync', ...states] : states).join('; ')
}

/** One line per network under a line of titles. What answered may be another server: a terminal obeys nothing in it. */
export function renderStatus(networks: readonly NetworkSyncRecord[]): string {
  const rows = [
    columns.map(([title]) => title),
    ...networks.map((network) => columns.map(([, cell]) => visibleText(cell(network)))),
  ]
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => alignCell(cell, column, widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Aligns numbers to the right, and the last column to the left. */
function alignCell(cell: string, column: number, width: number): string {
  return column === columns.length - 1 ? cell : cell.padStart(width)
}
