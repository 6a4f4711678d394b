import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
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
/** The core that counts the descriptors of its process. */
const counting = loadEachUws().find((core) => core.createApp().filter === undefined)
const WITH_OLD_CORE = {
  skip: transport.name !== counting?.name && 'another core is usual here',
}

test(
  'clients that connect to other front threads before this one opens its port are connections for it, too',
  WITH_OLD_CORE,
  async (t) => {
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
    await cell.open(0)
    const reader = new FrontCountsReader(counts)
    const connections = await until(() => reader.connections(), Boolean, 'the connections are counted')
    // A descriptor or two of this process may be others.
    assert.ok(Math.abs(connections - 200) < 10, String(connections))
  },
)
