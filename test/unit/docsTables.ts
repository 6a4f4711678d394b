import { type MeasuredOperation, modelGrowth, tellThreads } from '../../bench/growth/growthTables.js'
import { errorTable } from '../../src/api/errorTable.js'
import { probeRoutes, type Route, routes, socketRoutes, streamRoutes } from '../../src/api/routes.js'
import { cellSizes } from '../../src/cell/cellSizes.js'
import type { Config } from '../../src/config/config.types.js'
import { configKeys, endpointKeys } from '../../src/config/configKeys.js'
import { toToml } from '../../src/config/render.js'
import { rewindBlocks } from '../../src/indexer/recovery/recoveryMachine.js'
import { feedDefinitions } from '../../src/query/feed/feedRecords.js'
import { healthDefinition, networksDefinition, syncStatusDefinition } from '../../src/query/healthRecords.js'
import {
  claimProofDefinition,
  claimTransactionDefinition,
  injectedL1InfoLeafDefinition,
  l1InfoTreeIndexDefinition,
} from '../../src/query/proofRecords.js'
import { isInnerRecord, type JsonRecordDefinition } from '../../src/query/recordFields.js'
import {
  bridgeDefinition,
  claimDefinition,
  paginationDefinition,
  tokenMappingDefinition,
} from '../../src/query/records.js'
import { bridgeStatusResponseDefinition, searchResponseDefinition } from '../../src/query/statusRecords.js'
import { exitCodeMeanings, exitCodes } from '../../src/service/exitCodes.js'
import { absentEndpoints, aggkitPairs } from '../support/aggkitPairs.js'
import { pageOf, rowsOf } from '../support/docsPages.js'
import { hubAbsentEndpoints, hubPairs } from '../support/hubPairs.js'
import type { Pair } from '../support/pairs.js'
import { proofPairs, zkevmAbsentEndpoints, zkevmPairs } from '../support/zkevmPairs.js'
import { transitionRows } from './indexer/recovery/recoveryTable.js'

/** A table of the documents that must agree with the code, row by row. */
export interface DocsTable {
  /** Path below the project's folder. */
  readonly file: string
  readonly what: string
  render(): string
}

export const docsTables: readonly DocsTable[] = [
  {
    file: 'docs/api.md',
    what: 'data endpoints',
    render: () =>
      table(
        ['endpoint', 'operation', 'what it answers', 'errors of its own', 'tokens'],
        Object.entries(routes).map(([operation, { path, summary, errors, ...route }]) => [
          `\`${path}\``,
          `\`${operation}\``,
          summary,
          errors.map((code) => `\`${code}\``).join(', '),
          tokensText(route),
        ]),
      ),
  },
  {
    file: 'docs/api.md',
    what: 'streams',
    render: () =>
      table(
        ['endpoint', 'operation', 'what it answers', 'errors of its own', 'tokens'],
        Object.entries({ ...streamRoutes, ...socketRoutes }).map(
          ([operation, { path, summary, errors, cost }]) => [
            `\`${path}\``,
            `\`${operation}\``,
            summary,
            errors.map((code) => `\`${code}\``).join(', '),
            String(cost),
          ],
        ),
      ),
  },
  {
    file: 'docs/api.md',
    what: 'events',
    render: () =>
      table(
        ['`type`', 'what it tells'],
        Object.entries(feedDefinitions).map(([type, { description }]) => [`\`${type}\``, description]),
      ),
  },
  ...[
    { field: 'field of a bridge', definition: bridgeDefinition },
    { field: 'field of a claim', definition: claimDefinition },
    { field: 'field of a token mapping', definition: tokenMappingDefinition },
    { field: 'field of `pagination`', definition: paginationDefinition },
    { field: 'field of `/l1-info-tree-index`', definition: l1InfoTreeIndexDefinition },
    { field: 'field of `/injected-l1-info-leaf`', definition: injectedL1InfoLeafDefinition },
    { field: 'field of `proof`', definition: claimProofDefinition },
    { field: 'field of `/claim-transaction`', definition: claimTransactionDefinition },
    { field: 'field of `/bridge-status`', definition: bridgeStatusResponseDefinition },
    { field: 'field of `/search`', definition: searchResponseDefinition },
    { field: 'field of the health record', definition: healthDefinition },
    { field: 'field of `/sync-status`', definition: syncStatusDefinition },
    { field: 'field of `/networks`', definition: networksDefinition },
  ].map(({ field, definition }) => ({
    file: 'docs/api.md',
    what: `each ${field}`,
    render: () => table([field, 'type', 'meaning'], fieldRows(definition)),
  })),
  {
    file: 'docs/api.md',
    what: 'probes',
    render: () =>
      table(
        ['endpoint', 'operation', 'what it answers', 'HTTP'],
        Object.entries(probeRoutes).map(([operation, { paths, summary, otherStatuses }]) => [
          paths.map((path) => `\`${path}\``).join(', '),
          `\`${operation}\``,
          summary,
          [200, ...otherStatuses].join(', '),
        ]),
      ),
  },
  {
    file: 'docs/api.md',
    what: 'error codes',
    render: () =>
      table(
        ['code', 'HTTP', 'when, and what to do'],
        Object.entries(errorTable).map(([code, { status, meaning }]) => [
          `\`${code}\``,
          String(status),
          meaning,
        ]),
      ),
  },
  {
    file: 'docs/configuration.md',
    what: 'configuration keys',
    render: () =>
      table(
        ['key', 'default', 'unit', 'meaning'],
        configKeys.map(({ name, schema, isRequired }) => [
          `\`${name}\``,
          isRequired ? '*needed*' : schema.default === undefined ? '' : `\`${toToml(schema.default)}\``,
          schema.unit ?? '',
          [schema.description, schema.enum === undefined ? '' : `One of ${schema.enum.join(', ')}.`]
            .join(' ')
            .trim(),
        ]),
      ),
  },
  {
    file: 'docs/configuration.md',
    what: 'front threads by cores',
    render: () =>
      table(
        ['cores', 'front threads', 'query threads of each'],
        [1, 2, 4, 8, 16, 22, 64].map((cores) => {
          const wanted = { http: { threads: 'auto' }, pool: { workers: 1 } } as Config
          const machine = { cores, sharesPorts: true, transport: '', fits: () => true }
          const { cells, workers } = cellSizes(wanted, machine)
          return [cores, cells, workers].map(String)
        }),
      ),
  },
  {
    file: 'docs/configuration.md',
    what: 'endpoint keys',
    render: () =>
      table(
        ['key of an endpoint', 'unit', 'meaning'],
        endpointKeys.map(({ name, schema }) => [`\`${name}\``, schema.unit ?? '', schema.description ?? '']),
      ),
  },
  {
    file: 'docs/operations.md',
    what: 'exit codes',
    render: () =>
      table(
        ['exit code', 'meaning'],
        Object.entries(exitCodes).map(([name, code]) => [
          String(code),
          exitCodeMeanings[name as keyof typeof exitCodes],
        ]),
      ),
  },
  {
    file: 'docs/recovery.md',
    what: 'transitions of recovery',
    render: () =>
      table(['observation', 'in which states', 'new state', 'at once', 'next step'], transitionRows()),
  },
  {
    file: 'docs/recovery.md',
    what: 'blocks taken back before each try',
    render: () =>
      table(
        ['try', 'blocks taken back'],
        [1, 2, 3, 4, 5, 6, 9, 17, 33].map((nth) => [
          String(nth),
          Number.isFinite(rewindBlocks(nth)) ? String(rewindBlocks(nth)) : 'all that undo reaches',
        ]),
      ),
  },
  ...[
    pairsTable('aggkit', 'endpoint', aggkitPairs),
    absentTable('aggkit', 'endpoint that is not there', absentEndpoints),
    pairsTable('Bridge Hub', 'endpoint of Bridge Hub', hubPairs),
    absentTable('Bridge Hub', 'endpoint of Bridge Hub that is not there', hubAbsentEndpoints),
    pairsTable('the proof API', 'endpoint of the proof API', proofPairs),
    pairsTable('zkevm-bridge-service', 'endpoint of zkevm-bridge-service', zkevmPairs),
    absentTable(
      'zkevm-bridge-service',
      'endpoint of zkevm-bridge-service that is not there',
      zkevmAbsentEndpoints,
    ),
  ],
  {
    file: 'docs/benches.md',
    what: 'modelled growth',
    render: modelledGrowth,
  },
]

function pairsTable(of: string, head: string, pairs: readonly Pair[]): DocsTable {
  return {
    file: 'docs/compatibility.md',
    what: `what ${of} is asked and answers`,
    render: () =>
      table(
        [head, 'what is asked', 'how we stand', 'why'],
        pairs.map(({ endpoint, about, verdict, why = '' }) => [`\`${endpoint}\``, about, verdict, why]),
      ),
  }
}

function absentTable(of: string, head: string, endpoints: readonly (readonly string[])[]): DocsTable {
  return {
    file: 'docs/compatibility.md',
    what: `what ${of} has and we do not`,
    render: () =>
      table(
        [head, 'why'],
        endpoints.map(([path, why]) => [`\`${path}\``, why!]),
      ),
  }
}

/** The curve that the model of growth draws from the times that bench/README.md tells. */
function modelledGrowth(): string {
  const operations = rowsOf(pageOf('bench/README.md'), 'µs of CPU').map(operationOf)
  const points = modelGrowth(operations, { http: { threads: 'auto' }, pool: { workers: 1 } } as Config)
  const ofFirst = points.filter(({ operation }) => operation === operations[0]!.name)
  return table(
    [
      'cores',
      'front + query threads',
      ...operations.map(({ name }) => `${name}: k req/s`),
      'fullest cell ÷ mean',
    ],
    ofFirst.map(({ cores, sizes, growth: { unevenness } }) => [
      String(cores),
      tellThreads(sizes),
      ...points
        .filter((point) => point.cores === cores)
        .map(
          ({ growth, perSecondRatio }) =>
            `${(growth.perSecond / 1000).toFixed(0)} (× ${perSecondRatio.toFixed(2)})`,
        ),
      unevenness.toFixed(2),
    ]),
  )
}

function operationOf([name, ...cells]: readonly string[]): MeasuredOperation {
  const [frontRequestUs, frontBatchUs, queryRequestUs, queryBatchUs, clientUs, mostPerBatch] =
    cells.map(Number)
  return {
    name: name!,
    mostPerBatch: mostPerBatch!,
    times: {
      frontRequestUs: frontRequestUs!,
      frontBatchUs: frontBatchUs!,
      queryRequestUs: queryRequestUs!,
      queryBatchUs: queryBatchUs!,
      clientUs: clientUs!,
    },
  }
}

/** Fields with their names on the wire, those of a record within the record behind its name. */
function fieldRows({ fields }: JsonRecordDefinition, path = ''): string[][] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const wire = `${field.wire ?? name}${field.isList ? '[]' : ''}`
    const type = [
      isInnerRecord(field) ? 'record' : field.kind,
      field.isNullable ? ' or null' : '',
      field.isOptional ? ', mostly absent' : '',
    ]
    if (isInnerRecord(field)) {
      const inner = fieldRows(field.record, `${path}${wire}.`)
      // Only what may be missing has a row of its own.
      return type.join('') === 'record'
        ? inner
        : [[`\`${path}${wire}\``, type.join(''), field.record.description], ...inner]
    }
    return [[`\`${path}${wire}\``, type.join(''), field.description]]
  })
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function tokensText(route: Pick<Route<never>, 'cost' | 'costPerNetwork' | 'mostRows' | 'holdsLess'>): string {
  const { cost, costPerNetwork, mostRows, holdsLess } = route
  if (mostRows !== undefined) return `${cost} + rows / 100`
  if (holdsLess !== undefined) return `${cost} or more`
  return costPerNetwork === undefined ? String(cost) : `${cost} + networks / ${1 / costPerNetwork}`
}
