import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import type { NetworkConfig } from '../../../../src/config/config.types.js'
import { GerPoller } from '../../../../src/indexer/sync/gerPoller.js'
import type { BlockHeader, Hash } from '../../../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { handOn } from '../../../../src/shard/proposer.js'

const never = new AbortController().signal

function hash(number: number): Hash {
  return new Uint8Array(32).fill(number & 0xff, 31).fill(number >> 8, 30, 31)
}

function numberOf(ger: Hash): number {
  return ger[31]! + 256 * ger[30]!
}

/** An L1 info tree whose leaf i has the root `hash(i)`, and a manager that knows some of them. */
function world(gerInjection: NetworkConfig['gerInjection'] = 'auto') {
  const state = {
    leafCount: 0,
    epoch: 0,
    block: 10,
    branch: 0,
    known: new Set<number>(),
    injectedByEvents: 0,
    polledLeaves: undefined as number | undefined,
    reads: 0,
  }
  const [asked, stored]: [number[], number[]] = [[], []]
  const board = createStatusBoard([0, 1])
  const [l1, row] = [statusRow(board, 0), statusRow(board, 1)]
  l1.set('headBlock', 100)
  l1.set('syncedBlock', 100)
  const poller = new GerPoller({
    network: { gerInjection } as NetworkConfig,
    client: {
      findInjectedGers: async (gers) => {
        asked.push(...gers.map(numberOf))
        return gers.map((ger) => state.known.has(numberOf(ger)))
      },
    },
    writer: {
      checkpoint: () =>
        ({ number: asBlockNumber(state.block), hash: hash(256 * state.branch + state.block) }) as BlockHeader,
      counts: () => {
        state.reads++
        return {
          ...{ deposits: 0, claims: 0, l1InfoLeaves: 0, unresolvedSenders: 0 },
          gerInjections: state.injectedByEvents + stored.length,
        }
      },
      polledLeaves: () => state.polledLeaves,
    },
    proposer: handOn({
      apply: (command) => {
        assert.ok(command.type === 'addPolledGers')
        stored.push(...command.globalExitRoots.map(numberOf))
        state.polledLeaves = command.polledLeaves
        return { type: 'applied' }
      },
    }),
    leaves: {
      read: (from) => {
        const { epoch, leafCount } = state
        const first = from({ epoch, leafCount })
        const globalExitRoots = Array.from({ length: Math.max(0, leafCount - first) }, (_, i) =>
          hash(first + i),
        )
        return { epoch, leafCount, globalExitRoots }
      },
      close: async () => {},
    },
    row,
    l1,
  })
  /**
   * Sweeps after `leaves` more leaves.
   * @returns what this sweep asked and stored.
   */
  const sweep = async (leaves: number, ...known: number[]): Promise<[number[], number[]]> => {
    state.leafCount += leaves
    for (const index of known) state.known.add(index)
    if (leaves > 0) l1.add('commits', 1)
    const [before, had] = [asked.length, stored.length]
    await poller.sweep(never)
    return [asked.slice(before).sort((a, b) => a - b), stored.slice(had)]
  }
  /** Reverts blocks of the network, with the injections found at them. */
  const takeBack = (polledLeaves: number | undefined, kept: number): void => {
    stored.length = kept
    state.polledLeaves = polledLeaves
  }
  return { state, l1, row, poller, sweep, takeBack }
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

test('the first sweep asks for every L1 info leaf, later sweeps only for leaves above the newest known one', async () => {
  const { sweep, state } = world()
  assert.deepEqual(await sweep(250, 3, 7, 249), [range(0, 250), [3, 7, 249]])
  assert.equal(state.polledLeaves, 250)
  assert.deepEqual(await sweep(3, 251), [range(250, 253), [251]])
  assert.deepEqual(await sweep(1), [[252, 253], []])
})

test('a leaf that is not injected yet is asked for again with each block of the network, and not at all without a new block', async () => {
  const { sweep, state } = world()
  assert.deepEqual(await sweep(5, 3), [range(0, 5), [3]])
  assert.deepEqual(await sweep(0), [[], []])
  state.block += 1
  assert.deepEqual(await sweep(0, 4), [[4], [4]])
})

test('after a reorg to the same height, or a rewind to the same block, the sweep asks for every removed leaf', async () => {
  const { sweep, state, takeBack } = world()
  await sweep(800, 3, 7, 790)
  state.branch += 1
  takeBack(undefined, 0)
  assert.deepEqual(await sweep(0), [range(0, 800), [3, 7, 790]], 'those that are old, too')
  takeBack(8, 2)
  assert.deepEqual(await sweep(0), [range(8, 800), [790]])
  assert.deepEqual(await sweep(0), [[], []])
})

test('while no injected leaf is known, later sweeps ask for the newest leaves only', async () => {
  const { sweep } = world()
  assert.deepEqual(await sweep(800), [range(0, 800), []])
  assert.deepEqual(await sweep(1), [range(301, 801), []])
})

test('after a reorg of the L1 the recent leaves are asked for again', async () => {
  const { sweep, state } = world()
  await sweep(600, 590)
  state.epoch += 1
  state.leafCount = 560
  state.known = new Set([555])
  assert.deepEqual(await sweep(2), [range(62, 562), [555]])
  assert.equal(state.polledLeaves, 556)
})

test('after a restart polling continues where it stood, with another look at the recent leaves', async () => {
  const { sweep, state } = world()
  state.polledLeaves = 650
  assert.deepEqual(await sweep(700, 660), [range(200, 700), [660]])
})

test('a network with injection events is not polled, unless polling is configured', async () => {
  const event = world()
  event.state.injectedByEvents = 1
  assert.deepEqual(await event.sweep(5, 1), [[], []])
  assert.equal(event.row.get('polledL1Commits'), undefined)
  assert.equal(event.poller.hasNews(), false)
  const poll = world('poll')
  poll.state.injectedByEvents = 1
  assert.deepEqual(await poll.sweep(5, 1), [range(0, 5), [1]])
  assert.equal(poll.row.get('polledL1Commits'), poll.l1.get('commits'))
})

test('the poller has news when an L1 near its head has committed', async () => {
  const { sweep, l1, poller } = world()
  await sweep(1)
  assert.equal(poller.hasNews(), false)
  l1.add('commits', 1)
  assert.equal(poller.hasNews(), true)
  l1.set('headBlock', 1000)
  assert.equal(poller.hasNews(), false)
})

test('where events tell of injections, looks read the store once for each commit of the L1, and after a reorg they are polled again', async () => {
  const { state, l1, poller, sweep } = world()
  state.injectedByEvents = 1
  await sweep(1, 0)
  state.reads = 0
  for (let commit = 0; commit < 3; commit++) {
    l1.add('commits', 1)
    for (let look = 0; look < 5; look++) assert.equal(poller.hasNews(), false)
  }
  assert.equal(state.reads, 3)
  // The block with the event is taken back, after which there is a sweep.
  state.injectedByEvents = 0
  assert.deepEqual(await sweep(0), [[0], [0]])
  l1.add('commits', 1)
  assert.equal(poller.hasNews(), true)
})
