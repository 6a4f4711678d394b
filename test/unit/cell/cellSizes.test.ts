import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CellSizes, cellConfig, cellSizes, tellSizes } from '../../../src/cell/cellSizes.js'
import type { Config } from '../../../src/config/config.types.js'
import { ConfigError } from '../../../src/config/configError.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

function wish(threads: number | 'auto', workers = 1): Pick<Config, 'http' | 'pool'> {
  return { http: { threads }, pool: { workers, maxQueue: 1 } } as Config
}

const sizesOn = (cores: number, config = wish('auto'), sharesPorts = true, mostThreads = 1_000) => {
  const fits = (sizes: CellSizes) => sizes.cells * (1 + sizes.workers) <= mostThreads
  const { cells, workers } = cellSizes(config, { cores, sharesPorts, transport: 'node:http', fits })
  return [cells, workers]
}

test('auto makes one cell for four cores, and leaves no core without a thread but the rest of a division', () => {
  for (let cores = 1; cores <= 128; cores++) {
    const [cells, workers] = sizesOn(cores) as [number, number]
    assert.equal(cells, Math.max(1, (cores - (cores % 4)) / 4), `${cores} cores`)
    const threads = cells * (1 + workers)
    assert.ok(workers >= 1 && (threads <= cores || cores === 1), `${cores} cores: ${threads} threads`)
    assert.ok(cores - threads < cells, `${cores} cores: ${threads} threads`)
  }
})

test('part of a core counts as none', () => {
  assert.deepEqual(sizesOn(0.5), [1, 1])
  assert.deepEqual(sizesOn(3.9), [1, 2])
  assert.deepEqual(sizesOn(7.9), [1, 6])
})

test('a transport that can not share a port gets one cell by auto, with the query threads that one feeds, and more than one is refused', () => {
  assert.deepEqual(sizesOn(16, wish('auto'), false), [1, 3])
  assert.deepEqual(sizesOn(3, wish('auto'), false), [1, 2])
  assert.deepEqual(sizesOn(16, wish(1), false), [1, 1])
  assert.throws(
    () => sizesOn(16, wish(3), false),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(error.mistakes, ["http.threads is 3, but node:http can't share a port here"])
      return true
    },
  )
})

test('auto makes what fewer cores would get where the limits of the process leave no room for more threads', () => {
  assert.deepEqual(sizesOn(64, wish('auto'), true, 16), [4, 3])
  assert.deepEqual(sizesOn(64, wish('auto'), true, 15), [3, 4])
  assert.deepEqual(sizesOn(64, wish('auto'), true, 4), [1, 3])
  assert.deepEqual(sizesOn(64, wish('auto'), false, 3), [1, 2])
  // The start tells which limit is too low.
  assert.deepEqual(sizesOn(64, wish('auto'), true, 1), [1, 1])
  assert.deepEqual(sizesOn(64, wish(8), true, 1), [8, 1])
})

test('numbers are taken as they are, and with auto pool.workers is the least', () => {
  assert.deepEqual(sizesOn(2, wish(3, 2)), [3, 2])
  assert.deepEqual(sizesOn(8, wish('auto', 5)), [2, 5])
})

test('what is for the process is divided among the cells, and what is for each cell is not', (t) => {
  const config = loadedConfig(tempFolder(t))
  const limited = {
    ...config,
    http: { ...config.http, maxConnections: 1_002, maxConnectionsPerAddress: 300 },
    rateLimit: { ...config.rateLimit, tokensPerSec: 10 },
  }
  const part = cellConfig(limited, { cells: 4, workers: 3 })
  assert.deepEqual(part, {
    ...limited,
    http: { ...limited.http, cacheBytes: config.http.cacheBytes / 4, maxConnections: 250 },
    pool: { workers: 3, maxQueue: config.pool.maxQueue / 4 },
    feed: { ...config.feed, maxReaders: config.feed.maxReaders / 4 },
    rateLimit: {
      ...limited.rateLimit,
      tokensPerSec: 2.5,
      keyTokensPerSec: config.rateLimit.keyTokensPerSec / 4,
      maxClients: config.rateLimit.maxClients / 4,
    },
  })
  assert.deepEqual(cellConfig(limited, { cells: 1, workers: 1 }), limited)
})

test('sizes are told in words', () => {
  assert.equal(tellSizes({ cells: 1, workers: 1 }), '1 front thread with 1 query thread')
  assert.equal(tellSizes({ cells: 2, workers: 3 }), '2 front threads with 3 query threads each')
})
