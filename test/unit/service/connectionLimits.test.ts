import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { countedLabels } from '../../../src/http/countedLabels.js'
import { watchRefusals, withConnectionLimits } from '../../../src/service/connectionLimits.js'
import { createFrontCounts, FrontCounts } from '../../../src/telemetry/frontCounts.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

const SIZES = { cells: 2, workers: 3 }

function limitsOf(t: TestContext, files: number | undefined, wish: object = {}) {
  const { logger, lines } = createKeepingLogger()
  const config = loadedConfig(tempFolder(t))
  const wanted = { ...config, networks: config.networks.slice(0, 2), http: { ...config.http, ...wish } }
  const limits = files === undefined ? undefined : { openFiles: { soft: files, hard: files } }
  const { http } = withConnectionLimits(wanted, SIZES, limits, logger)
  return { numbers: [http.maxConnections, http.maxConnectionsPerAddress], lines }
}

// docs/operations.md: 224 + 24 for each network + 16 for each front thread + 4 for each query thread.
const KEPT_BACK = 224 + 2 * 24 + 2 * 16 + 6 * 4

test('by default there are as many connections as descriptors, less those that are kept back, and a quarter for one address', (t) => {
  const { numbers, lines } = limitsOf(t, KEPT_BACK + 1_000)
  assert.deepEqual(numbers, [1_000, 250])
  assert.deepEqual(lines, [])
})

test('numbers are taken as they are, and one that the descriptors do not allow is told and lowered', (t) => {
  const wish = { maxConnections: 500, maxConnectionsPerAddress: 0 }
  assert.deepEqual(limitsOf(t, KEPT_BACK + 1_000, wish).numbers, [500, 0])
  const { numbers, lines } = limitsOf(t, KEPT_BACK + 400, wish)
  assert.deepEqual(numbers, [400, 0])
  assert.deepEqual(
    lines.map(({ level, text }) => [level, text]),
    [['warn', 'http.max_connections is more than the limit of descriptors allows']],
  )
})

test('where the system tells no limit, or has none, only the own numbers count', (t) => {
  assert.deepEqual(limitsOf(t, undefined).numbers, [Number.POSITIVE_INFINITY, 0])
  assert.deepEqual(limitsOf(t, Number.POSITIVE_INFINITY, { maxConnections: 8 }).numbers, [8, 2])
})

test('refused connections are told once for ten minutes, each limit by its own line', (t) => {
  const { logger, lines } = createKeepingLogger()
  const handles = [createFrontCounts(countedLabels), createFrontCounts(countedLabels)]
  const [first, second] = handles.map((handle) => new FrontCounts(handle))
  const look = watchRefusals(handles, loadedConfig(tempFolder(t)).http, logger)
  look(0)
  assert.equal(lines.length, 0)
  first!.beat(0, 0, 7)
  second!.beat(0, 0, 5)
  for (let nowMs = 1_000; nowMs < 60_000; nowMs += 1_000) {
    second!.connectionRefused('max_connections')
    look(nowMs)
  }
  first!.connectionRefused('max_connections_per_address')
  look(60_000)
  assert.deepEqual(
    lines.map(({ text, fields }) => [text, fields.connections]),
    [
      ['connections are refused: http.max_connections is reached', 12],
      ['connections are refused: http.max_connections_per_address is reached', 12],
    ],
  )
  look(601_000)
  assert.equal(lines.length, 3)
  look(602_000)
  assert.equal(lines.length, 3)
})
