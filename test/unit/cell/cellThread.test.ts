import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startCell } from '../../../src/cell/cell.js'
import { createHealthBoard } from '../../../src/health/healthBoard.js'
import { transportLabel } from '../../../src/http/chooseTransport.js'
import { loadEachUws } from '../../../src/http/wire/uws.js'
import { createQueryThreadTimes } from '../../../src/telemetry/counts/queryThreadTimes.js'
import { createFrontCounts, FrontCountsReader } from '../../../src/telemetry/frontCounts.js'
import { compileMerkleModule } from '../../../src/wasm/wasmModule.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { usualTransport } from '../../support/httpWorld.js'
import { IndexedWorld } from '../../support/indexedWorld.js'
import { until } from '../../support/until.js'

const transport = usualTransport()
/** Only this core has its connections counted by the descriptors of the process, and which one is usual depends on the Node. */
const counting = loadEachUws().find((core) => core.createApp().filter === undefined)

/** A front thread of two in a process that got 400 other descriptors since the thread was made. */
async function openCell(
  t: TestContext,
): Promise<{ readonly reader: FrontCountsReader; readonly port: number }> {
  const { config, status } = new IndexedWorld(t, createFakeWorld({ networks: [1] }))
  const counts = createFrontCounts({ routes: [], methods: [], statuses: [] })
  const cell = startCell({
    data: {
      cell: 0,
      cells: 2,
      config: { ...config, http: { ...config.http, maxConnections: 1_000, maxConnectionsPerAddress: 0 } },
      compiled: compileMerkleModule(),
      status,
      health: createHealthBoard(
        config.networks.map(({ networkId }) => networkId),
        1,
      ),
      counts,
      queryTimes: createQueryThreadTimes(1),
      transport: transportLabel(transport),
    },
    onDied: (message) => assert.fail(message),
  })
  t.after(() => cell.stop())
  await cell.ready
  const files = Array.from({ length: 400 }, () => openSync('/dev/null', 'r'))
  t.after(() => files.forEach(closeSync))
  const port = await cell.open(0)
  return { reader: new FrontCountsReader(counts), port }
}

if (transport.name === counting?.name)
  test('clients that connect to other front threads before this one opens its port are connections for it, too', async (t) => {
    const { reader } = await openCell(t)
    const connections = await until(() => reader.connections(), Boolean, 'the connections are counted')
    // A descriptor or two of this process may be others.
    assert.ok(Math.abs(connections - 200) < 10, String(connections))
  })
else
  test('a front thread whose core tells of its connections counts no other descriptors', async (t) => {
    const { reader, port } = await openCell(t)
    const client = connect({ port, host: '127.0.0.1' })
    t.after(() => client.destroy())
    assert.equal(await until(() => reader.connections(), Boolean, 'the connection is counted'), 1)
  })
