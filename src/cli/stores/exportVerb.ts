import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { createQueryParser } from '../../api/parse/parseQuery.js'
import { JsonWriter } from '../../api/present/jsonWriter.js'
import { recordWriter } from '../../api/present/recordWriter.js'
import { type Route, routes } from '../../api/routes.js'
import { createStatusBoard } from '../../board/statusBoard.js'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { OperatorError } from '../../errors/operatorError.js'
import type { Answer } from '../../query/answers.js'
import { decodeCursor } from '../../query/cursor.js'
import type { OperationId, Paging } from '../../query/queries.js'
import type { Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import { exitCodes } from '../../service/exitCodes.js'
import { getBridges } from '../../shard/queries/getBridges.js'
import { getClaims } from '../../shard/queries/getClaims.js'
import { getTokenMappings } from '../../shard/queries/getTokenMappings.js'
import { openShardReaders, type ShardReaders } from '../../shard/queries/shardReaders.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreSnapshot } from '../../store/shardStore.js'
import { checkIdentity } from '../../store/storeIdentity.js'
import { publicJson } from '../../telemetry/visibleText.js'
import { compileMerkleModule } from '../../wasm/wasmModule.js'
import { otherFlagsHelp } from '../input/arguments.js'
import { csvLine } from '../input/csv.js'
import type { ProgressLine } from '../input/progressBar.js'
import { UsageError, type Verb } from '../input/verb.js'
import { inLockedFolder, readStoreArguments } from './storeVerb.js'

interface List<Query extends Paging, Row extends object> {
  readonly operation: OperationId
  readonly route: Route<Query>
  readonly rows: RowTemplate
  /** Whether the API demands one network: then an export without one is of all networks, one after the other. */
  readonly isOfOneNetwork: boolean
  ask(shards: ShardReaders, query: Query): Answer<Page<Row>>
}

// Erases the types of query and record, which only `ask` and `route` of one list exchange.
const listOf = <Query extends Paging, Row extends object>(list: List<Query, Row>) =>
  list as unknown as List<Paging, object>

const lists: Readonly<Record<string, List<Paging, object>>> = {
  bridges: listOf({
    operation: 'getBridges',
    route: routes.getBridges,
    rows: routes.getBridges.rows,
    isOfOneNetwork: true,
    ask: getBridges,
  }),
  claims: listOf({
    operation: 'getClaims',
    route: routes.getClaims,
    rows: routes.getClaims.rows,
    isOfOneNetwork: true,
    ask: getClaims,
  }),
  'token-mappings': listOf({
    operation: 'getTokenMappings',
    route: routes.getTokenMappings,
    rows: routes.getTokenMappings.rows,
    isOfOneNetwork: false,
    ask: getTokenMappings,
  }),
}

/** Parameters of the API that say which page is meant: an export is of all pages. */
const PAGING: ReadonlySet<string> = new Set(['page_number', 'page_size', 'cursor'])
const ROWS_AT_ONCE = 1_000

const flagOf = (parameter: string): string => parameter.replaceAll('_', '-')

/** Parameter → the lists that have it. */
const filters = new Map<string, string[]>()
for (const [name, { route }] of Object.entries(lists))
  for (const parameter of Object.keys(route.parameters.properties))
    if (!PAGING.has(parameter)) filters.set(parameter, [...(filters.get(parameter) ?? []), name])

/** `bds export`: every record of a list as lines, from the stores of a running or a stopped service. */
export const exportVerb: Verb = {
  help: [
    'Usage: bds export bridges|claims|token-mappings --config FILE [--format ndjson|csv] [--out FILE] [--json] [filters] [flags]',
    '',
    'Writes every record that the filters leave, oldest first, as the API shows it: one JSON document a line, or CSV with a head line. Reads the',
    'stores of all networks in one state, also while a service uses them; the service is not asked. Whether a bridge is ready is told by',
    'what is stored: a halt or a silent chain, which a running service takes into account, is not known here.',
    'In CSV a null is an empty cell, and a text that a spreadsheet would take for a formula begins with an apostrophe.',
    '',
    '  --format F        ndjson (default) or csv',
    '  --out FILE        instead of standard output; the file has its name only when it is complete. Tells the number of records',
    '  --json            with --out: one JSON document instead of a line',
    'Filters, those of the API; without --network-id all networks, one after the other:',
    ...[...filters].map(
      ([parameter, names]) => `  --${`${flagOf(parameter)} V`.padEnd(18)}of ${names.join(', ')}`,
    ),
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const text = { type: 'string' } as const
    const ofFilters = Object.fromEntries([...filters.keys()].map((name) => [flagOf(name), text]))
    const own = { ...ofFilters, format: text, out: text }
    const { values, words, config, isJson } = readStoreArguments(args, own, 1)
    const list = lists[words[0] ?? '']
    if (list === undefined) throw new UsageError(`expected bds export ${Object.keys(lists).join(', ')}`)
    const { format = 'ndjson', out } = values
    if (format !== 'ndjson' && format !== 'csv')
      throw new UsageError(`--format ${format} is not ndjson or csv`)
    const queries = queriesOf(list, values, config)
    const count = await inLockedFolder(config, 'read', async (progress) => {
      const output = out === undefined ? standardOutput() : fileOutput(out)
      try {
        const written = await exportList({ config, list, queries, format, output, progress })
        output.finish()
        return written
      } finally {
        output.close()
      }
    })
    if (out !== undefined)
      console.log(isJson ? publicJson({ out, format, count }) : `${count} records in ${out}`)
    return exitCodes.ok
  },
}

/** @throws UsageError for what the API refuses, in its words, and for a filter of another list. */
function queriesOf(
  { operation, route, isOfOneNetwork }: List<Paging, object>,
  values: Readonly<Record<string, string | undefined>>,
  config: Config,
): Paging[] {
  const given = [...filters.keys()].filter((parameter) => values[flagOf(parameter)] !== undefined)
  const strange = given.find((parameter) => !(parameter in route.parameters.properties))
  if (strange !== undefined)
    throw new UsageError(`--${flagOf(strange)} is a filter of ${filters.get(strange)?.join(', ')} only`)
  const parameters = new URLSearchParams(given.map((name): [string, string] => [name, values[flagOf(name)]!]))
  parameters.set('page_size', String(ROWS_AT_ONCE))
  if (!parameters.has('order')) parameters.set('order', 'asc')
  const networkIds = config.networks.map(({ networkId }) => networkId)
  const parse = createQueryParser(route, new Set(networkIds), operation)
  const asked = isOfOneNetwork && !parameters.has('network_id') ? networkIds : [undefined]
  return asked.map((networkId) => {
    if (networkId !== undefined) parameters.set('network_id', String(networkId))
    const parsed = parse(parameters.toString().replaceAll('+', '%20'))
    if (!parsed.ok) throw new UsageError(parsed.message)
    return parsed.value.query
  })
}

interface Output {
  /** @returns false when nobody reads any more. */
  write(bytes: Uint8Array): boolean
  finish(): void
  close(): void
}

/** Writing to a pipe, a file or a terminal blocks on Linux, so that no more is in memory than the reader has taken. */
function standardOutput(): Output {
  return {
    write(bytes) {
      process.stdout.write(bytes)
      return process.stdout.writable
    },
    finish: () => undefined,
    close: () => undefined,
  }
}

/** @throws OperatorError when the file can't be made. */
function fileOutput(path: string): Output {
  const partial = `${path}.partial`
  let file: number | undefined
  try {
    file = openSync(partial, 'w')
  } catch (error) {
    throw new OperatorError(`${path} can't be written: ${(error as Error).message}`)
  }
  const close = () => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  return {
    write(bytes) {
      for (let done = 0; done < bytes.length; ) done += writeSync(file!, bytes, done)
      return true
    },
    finish() {
      fsyncSync(file!)
      close()
      renameSync(partial, path)
    },
    close() {
      if (file === undefined) return
      close()
      rmSync(partial, { force: true })
    },
  }
}

interface ExportOptions {
  readonly config: Config
  readonly list: List<Paging, object>
  readonly queries: readonly Paging[]
  readonly format: 'ndjson' | 'csv'
  readonly output: Output
  readonly progress: ProgressLine
}

/** @returns the number of records. */
async function exportList(options: ExportOptions): Promise<number> {
  const { config, list, queries, format, output, progress } = options
  for (const network of config.networks) await assertStore(config, network)
  // Nobody writes this board: no halt and no head is known.
  const status = createStatusBoard(config.networks.map(({ networkId }) => networkId))
  const shards = openShardReaders({
    ...{ config, status },
    compiled: compileMerkleModule(),
    openStore: openShardStoreSnapshot,
  })
  const writer = new JsonWriter()
  const writeRow = recordWriter<object>(list.rows)
  const columns = list.rows.map(({ key }) => key)
  const writeRecord = (row: object): void => {
    const from = writer.length
    writeRow(writer, row)
    if (format === 'csv') {
      const record = JSON.parse(Buffer.from(writer.bytes.subarray(from, writer.length)).toString())
      writer.truncate(from)
      writer.append(Buffer.from(csvLine(columns.map((name) => record[name]))))
    } else writer.append(LINE_END)
  }
  try {
    // One task, and nothing awaited in it: every shard shows one state from the first row to the last.
    return shards.withSnapshots(() => {
      let count = 0
      if (format === 'csv') writer.append(Buffer.from(csvLine(columns)))
      for (const [at, query] of queries.entries()) {
        let cursor: readonly number[] | undefined
        let done = 0
        do {
          const answer = list.ask(shards, cursor === undefined ? query : { ...query, cursor })
          if (!answer.ok) throw new OperatorError(answer.message)
          const { rows, total, nextCursor } = answer.value
          for (const row of rows) writeRecord(row)
          const isRead = output.write(writer.bytes.slice(0, writer.length))
          writer.reset()
          count += rows.length
          done += rows.length
          progress.show((at + done / Math.max(1, total)) / queries.length, `${count} records`)
          if (!isRead) return count
          cursor =
            nextCursor === null ? undefined : decodeCursor(Buffer.from(nextCursor, 'base64url'))?.numbers
        } while (cursor !== undefined)
      }
      if (writer.length > 0) output.write(writer.bytes.slice(0, writer.length))
      return count
    })
  } finally {
    await shards.close()
  }
}

const LINE_END = Buffer.from('\n')

/** @throws FatalError when a network has no store, or one of another deployment or schema. */
async function assertStore(config: Config, network: NetworkConfig): Promise<void> {
  const directory = shardDirectory(config.dataDir, network.networkId)
  const store = openShardStoreSnapshot(directory)
  try {
    store.refresh()
    checkIdentity(store, network, directory)
  } finally {
    store.release()
    await store.close()
  }
}
