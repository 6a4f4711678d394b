import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import { ExitRootSearch } from '../../../../src/indexer/sync/exitRootSearch.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import type { FoundExitRoot, LineageSpan } from '../../../../src/shard/localExitRoots.types.js'
import { handOn } from '../../../../src/shard/proposer.js'

/** A root from which its leaf count can be read. */
function rootOf(lineage: number, leafCount: number): Uint8Array {
  const root = new Uint8Array(32)
  new DataView(root.buffer).setUint32(0, leafCount)
  new DataView(root.buffer).setUint32(28, 1 + lineage)
  return root
}

/** A tree whose roots cost a tenth of a millisecond each. The shard has the root of every hundredth leaf count. */
function world(deposits: number) {
  const state = { nowMs: 0, computed: 0, reorgs: 0, l1Epoch: 0, isFull: false }
  const spans: LineageSpan[] = [{ cut: 0, leafCount: deposits }]
  const settled: Uint8Array[] = []
  const stored: FoundExitRoot[] = []
  const board = createStatusBoard([0, 1])
  const [l1, row] = [statusRow(board, 0), statusRow(board, 1)]
  row.set('depositCount', deposits)
  const search = new ExitRootSearch({
    networkId: asNetworkId(1),
    clock: { now: () => state.nowMs },
    row,
    l1,
    settlements: {
      readSettlements: (_, from) => {
        const first = from(state.l1Epoch)
        const settlements = settled
          .map((localExitRoot, index) => ({ version: index + 1, localExitRoot }))
          .filter(({ version }) => version >= first)
        return { epoch: state.l1Epoch, newestVersion: settled.length, settlements }
      },
    },
    exitRoots: {
      reorgs: () => state.reorgs,
      lineages: () => spans,
      find: (root) => {
        const view = new DataView(root.buffer)
        const [leafCount, lineage] = [view.getUint32(0), view.getUint32(28) - 1]
        const span = spans[lineage]
        if (span === undefined || leafCount > span.leafCount) return undefined
        const found = stored.find((entry) => entry.root.every((byte, at) => byte === root[at]))
        const kept = leafCount % 100 === 0 ? { lineage, leafCount } : found
        return kept as FoundExitRoot | undefined
      },
      rootsAt: (lineage, leafCounts) => {
        state.computed += leafCounts.length
        state.nowMs += leafCounts.length / 10
        return Buffer.concat(leafCounts.map((leafCount) => rootOf(lineage, leafCount)))
      },
    },
    proposer: handOn({
      apply: (command) => {
        assert.ok(command.type === 'addSettledRoots')
        if (state.isFull) throw new Error('disk full')
        stored.push(...command.found)
        return { type: 'applied' }
      },
    }),
  })
  const settle = (...roots: Uint8Array[]) => {
    settled.push(...roots)
    l1.add('commits', 1)
  }
  const grow = (leafCount: number) => {
    spans.push({ ...spans.pop()!, leafCount })
    row.set('depositCount', leafCount)
  }
  const cut = (at: number, leafCount: number) => {
    spans.push({ cut: at, leafCount })
    row.set('depositCount', leafCount)
    row.add('epoch', 1)
  }
  /**
   * Steps to the end.
   * @returns leaf counts that were stored meanwhile, and the number of roots that were computed.
   */
  const run = async () => {
    const [computed, before] = [state.computed, stored.length]
    do await search.step()
    while (search.hasWork)
    const places = stored.slice(before).map(({ lineage, leafCount }) => [Number(lineage), Number(leafCount)])
    return { places, computed: state.computed - computed }
  }
  return { state, search, settle, grow, cut, run, row, l1, stored }
}

test('a settled root is searched from the previously settled one on, and no root is computed when all are known', async () => {
  const { settle, run } = world(1_000_000)
  settle(rootOf(0, 500_000))
  assert.deepEqual(await run(), { places: [], computed: 0 })
  settle(rootOf(0, 500_017), rootOf(0, 900_000), rootOf(0, 900_050))
  const { places, computed } = await run()
  assert.deepEqual(places, [
    [0, 500_017],
    [0, 900_050],
  ])
  assert.ok(computed <= 2 * 128, `${computed} roots`)
  settle(rootOf(0, 900_100))
  assert.deepEqual(await run(), { places: [], computed: 0 })
})

test('a root older than the previously settled one, or of an older lineage, is found too', async () => {
  const { settle, run, cut } = world(5_000)
  settle(rootOf(0, 4_000), rootOf(0, 37))
  assert.deepEqual((await run()).places, [[0, 37]])
  cut(1_000, 3_000)
  settle(rootOf(1, 2_000), rootOf(0, 1_234), rootOf(1, 1_111))
  assert.deepEqual((await run()).places.sort(), [
    [0, 1_234],
    [1, 1_111],
  ])
})

test('a root of another tree costs one pass over the leaf counts, and then one look at each new count', async () => {
  const { settle, run, grow, cut, state } = world(10_000)
  const foreign = () => Buffer.alloc(32, 0xee)
  settle(rootOf(0, 5_000), foreign())
  const first = await run()
  assert.deepEqual(first.places, [])
  assert.ok(first.computed <= 15_000, `${first.computed} roots`)
  assert.deepEqual(await run(), { places: [], computed: 0 })
  grow(10_300)
  assert.deepEqual(await run(), { places: [], computed: 300 })
  cut(10_000, 10_010)
  assert.deepEqual(await run(), { places: [], computed: 10 })
  state.l1Epoch++
  settle(foreign())
  assert.deepEqual(await run(), { places: [], computed: 0 }, 'an L1 reorg, and settled once more')
})

test('a root that is settled before its deposit is indexed is found as soon as the deposit is', async () => {
  const { settle, run, grow, cut } = world(1_000)
  settle(rootOf(0, 1_050), rootOf(1, 1_020))
  assert.deepEqual((await run()).places, [])
  grow(1_060)
  assert.deepEqual((await run()).places, [[0, 1_050]])
  cut(1_010, 1_030)
  assert.deepEqual((await run()).places, [[1, 1_020]])
})

test('a long search runs in slices of about 20 ms, and counts as unfinished until the likely counts are done', async () => {
  const { settle, search, state, row, l1 } = world(10_000)
  settle(rootOf(0, 9_999))
  let slices = 0
  do {
    const before = state.nowMs
    await search.step()
    slices++
    assert.ok(state.nowMs - before <= 20 + 12.8, `${state.nowMs - before} ms`)
    assert.equal(row.get('searchedL1Commits'), search.isBehind ? undefined : l1.get('commits'))
  } while (search.isBehind)
  assert.ok(slices > 20, `${slices} slices`)
  assert.equal(search.hasWork, false)
})

test('a root that could not be stored is searched again', async () => {
  const { settle, search, state, run } = world(1_000)
  settle(rootOf(0, 151))
  state.isFull = true
  await assert.rejects(search.step(), /disk full/)
  state.isFull = false
  assert.deepEqual((await run()).places, [[0, 151]])
})

test('after a reorg of its own network every settled root is searched again', async () => {
  const { settle, run, state, stored, row } = world(1_000)
  settle(rootOf(0, 151))
  assert.deepEqual((await run()).places, [[0, 151]])
  stored.length = 0
  state.reorgs++
  row.add('epoch', 2 ** 16)
  assert.deepEqual((await run()).places, [[0, 151]])
})
