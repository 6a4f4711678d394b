import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createStatusBoard,
  headPlaces,
  type StatusBoardHandle,
  statusRow,
} from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { FatalError, RetryableError } from '../../src/errors/chainErrors.js'
import { createHealthBoard, HealthBoard } from '../../src/health/healthBoard.js'
import { createHealthMonitor } from '../../src/health/healthMonitor.js'
import { runSyncLoop } from '../../src/indexer/sync/syncLoop.js'
import { SyncReport } from '../../src/indexer/syncReport.js'
import { BoardNotes } from '../../src/shard/boardNotes.js'
import { handOn } from '../../src/shard/proposer.js'
import { readFeed } from '../../src/shard/snapshot/feedReads.js'
import { noCommits } from '../support/commitWatches.js'
import { createFakeWorld, type FakeNetwork } from '../support/fakeChain.js'
import { createKeepingLogger } from '../support/keepingLogger.js'
import { tempFolder } from '../support/tempFolder.js'
import { TestNumbers } from '../support/testNumbers.js'
import { openTestShard, type TestShard } from '../support/testShard.js'
import { VirtualClock } from '../support/virtualClock.js'
import { createWatchedClient } from '../support/watchedClient.js'

const SEEDS = 25
const ACTS = 14
const NETWORK = 1
const never = new AbortController().signal

/** What is wrong around the service. */
interface Faults {
  endpoint: 'none' | 'otherChain' | 'gone'
  isDiskFull: boolean
  /** The process ends at the next note, before or after it is stored. */
  diesAtNote: 'before' | 'after' | undefined
}

/** One start of a lone service: its indexer, its board and its health. It may end at any command. */
class Start {
  readonly shard: TestShard
  readonly notes: BoardNotes
  readonly board: StatusBoardHandle = createStatusBoard([NETWORK])
  readonly #health: ReturnType<typeof createHealthMonitor>
  readonly #running: Promise<void>
  readonly #stop = new AbortController()
  isDead = false

  constructor(folder: string, network: FakeNetwork, clock: VirtualClock, faults: Faults) {
    const row = statusRow(this.board, NETWORK)
    row.setHeadPlace(headPlaces.unseen)
    this.shard = openTestShard(folder, NETWORK, this.board)
    const { writer } = this.shard
    const client = createWatchedClient(network, clock, { pollIntervalMs: 1_000, rollbackBlocks: 64 })
    client.before = ({ method }) => {
      if (method !== 'getHead' && method !== 'getHighestHead') return
      if (faults.endpoint === 'otherChain') throw new FatalError('another chain', { reason: 'wrong_chain' })
      if (faults.endpoint === 'gone') throw new RetryableError('no endpoint answers')
    }
    const proposer = handOn({
      apply: (command) => {
        const isNote = command.type === 'noteHalt' || command.type === 'noteHeadPlace'
        if (isNote && faults.diesAtNote === 'before') this.isDead = true
        if (this.isDead) throw new Error('the process has ended')
        if (faults.isDiskFull && !writer.saysNothingNew(command))
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
        const outcome = writer.apply(command)
        if (isNote && faults.diesAtNote === 'after') this.isDead = true
        return outcome
      },
    })
    const { signal } = this.#stop
    const noted = writer.noted()
    this.notes = new BoardNotes({ row, noted, untold: ['data_folder_lost'], proposer, clock, signal })
    const { logger } = createKeepingLogger()
    const { halt } = noted
    const report = new SyncReport({
      ...{ networkId: NETWORK, row: this.notes.row, halt, post: () => undefined, logger, clock },
    })
    const indexedDeposits = () => new Map()
    const common = { network: client.settings, client, writer, proposer, clock, report }
    this.#running = runSyncLoop({ ...common, indexedDeposits, commits: noCommits }, signal)
    const config = {
      primaryNetwork: NETWORK,
      networks: [{ networkId: NETWORK, stalledAfterMs: 0 }],
      health: { syncedLagBlocks: 10, maxLagBlocks: 50, maxRpcDownMs: 60_000, heartbeatTimeoutMs: 30_000 },
    } as unknown as Config
    const board = new HealthBoard(createHealthBoard([NETWORK], 1))
    this.#health = createHealthMonitor({ config, status: this.board, board, now: () => clock.now() })
  }

  get row() {
    return statusRow(this.board, NETWORK)
  }

  /** Why nothing may be relied on, as the API says it under the names that events have. */
  told(): string[] {
    const { halted, reasons = [] } = this.#health.syncStatus().networks[0]!
    const catchingUp = this.row.get('catchingUp') === 1 ? ['catching_up'] : []
    const named = reasons.filter((reason) => reason === 'behind' || reason === 'emergency_state')
    return [...named, ...catchingUp, ...(halted === null ? [] : [halted])].sort()
  }

  async kill(): Promise<void> {
    if (this.#stop.signal.aborted) return
    this.isDead = true
    this.#stop.abort()
    await this.#running
    await this.shard.close()
  }
}

/** Who reads the feed only. */
class Follower {
  readonly standing = new Set<string>()
  /** How often each was told as `halted`. */
  readonly halts = new Map<string, number>()
  #position = 0

  follow(shard: TestShard, name: string): void {
    const entries = shard.read((view) => readFeed(view, this.#position, 1_000_000))
    for (const { sequence, event } of entries) {
      this.#position = sequence
      if (event.type === 'halted') {
        assert.ok(!this.standing.has(event.reason), `${name}: ${event.reason} is told twice`)
        this.standing.add(event.reason)
        this.halts.set(event.reason, (this.halts.get(event.reason) ?? 0) + 1)
      }
      if (event.type === 'resumed')
        assert.ok(this.standing.delete(event.reason), `${name}: ${event.reason} has ended twice`)
    }
  }
}

/** One thing that happens. @returns its name. */
function act(start: Start, network: FakeNetwork, numbers: TestNumbers, faults: Faults): string {
  const choice = numbers.below(100)
  if (choice < 25) {
    faults.endpoint = numbers.pick(['otherChain', 'otherChain', 'gone'])
    return faults.endpoint
  }
  if (choice < 45) {
    faults.endpoint = 'none'
    return 'endpoint well'
  }
  if (choice < 60) {
    network.rollback(1 + numbers.below(4))
    return 'put back'
  }
  if (choice < 75) {
    for (let blocks = 1 + numbers.below(8); blocks > 0; blocks--)
      network.mine((block) => block.tx().deposit())
    return 'blocks'
  }
  if (choice < 83) {
    faults.isDiskFull = !faults.isDiskFull
    return faults.isDiskFull ? 'disk full' : 'room on the disk'
  }
  if (choice < 88) {
    if (start.row.haltReason() === 'data_folder_lost') return 'nothing'
    start.row.setHaltReason('corrupt_store')
    return 'corrupt'
  }
  if (choice < 93) {
    const before = start.row.haltReason()
    if (before === 'data_folder_lost') start.row.replaceHaltReason('data_folder_lost', 'none')
    else start.row.setHaltReason('data_folder_lost')
    return 'folder'
  }
  faults.diesAtNote = numbers.pick(['before', 'after'])
  return 'dies at a note'
}

test('why nothing may be relied on follows from the feed alone: each reason is told once when it comes and once when it goes, whenever the process ends', async (context) => {
  const told = new Map<string, number>()
  let compared = 0
  let stood = 0
  let last: Start | undefined
  context.after(() => last?.kill())
  for (let seed = 1; seed <= SEEDS; seed++) {
    const folder = tempFolder(context)
    const numbers = new TestNumbers(seed)
    const clock = new VirtualClock({ random: () => numbers.below(1_000) / 1_000 })
    const network = createFakeWorld({ networks: [NETWORK] }).network(NETWORK)
    network.mineEmpty(40)
    const faults: Faults = { endpoint: 'none', isDiskFull: false, diesAtNote: undefined }
    const follower = new Follower()
    const begin = (): Start => {
      last = new Start(folder, network, clock, faults)
      return last
    }
    let start = begin()
    const restart = async (): Promise<void> => {
      await start.kill()
      faults.diesAtNote = undefined
      start = begin()
    }
    const compare = (name: string): void => {
      // As each heartbeat does.
      start.notes.look()
      follower.follow(start.shard, name)
      if (start.isDead || faults.isDiskFull || start.row.haltReason() === 'data_folder_lost') return
      // Before the first look at the head, what was told before the start is all that is known.
      const isSeen = start.row.headPlace() !== headPlaces.unseen
      const known = (reasons: Iterable<string>) =>
        [...reasons].filter((reason) => isSeen || reason !== 'behind').sort()
      assert.deepEqual(known(follower.standing), known(start.told()), name)
      compared++
    }
    await clock.sleep(20_000, never)
    compare(`seed ${seed}, at first`)
    for (let count = 0; count < ACTS; count++) {
      const what = act(start, network, numbers, faults)
      await clock.sleep(numbers.pick([10, 500, 7_000, 40_000]), never)
      compare(`seed ${seed}, act ${count}: ${what}`)
      if (!start.isDead && !numbers.chance(0.25)) continue
      const isFaultOn = faults.endpoint === 'otherChain' && follower.standing.has('wrong_chain')
      const before = follower.halts.get('wrong_chain')
      await restart()
      await clock.sleep(numbers.pick([0, 60_000]), never)
      compare(`seed ${seed}, act ${count}: restart after ${what}`)
      if (!isFaultOn || faults.isDiskFull) continue
      assert.equal(follower.halts.get('wrong_chain'), before, `seed ${seed}, act ${count}`)
      assert.ok(follower.standing.has('wrong_chain'), `seed ${seed}, act ${count}`)
      stood++
    }
    Object.assign(faults, { endpoint: 'none', isDiskFull: false } satisfies Partial<Faults>)
    await restart()
    network.mineEmpty(70)
    await clock.sleep(300_000, never)
    compare(`seed ${seed}, at last`)
    assert.deepEqual([...follower.standing], [], `seed ${seed}, at last`)
    for (const [reason, times] of follower.halts) told.set(reason, (told.get(reason) ?? 0) + times)
    await start.kill()
  }
  for (const reason of ['wrong_chain', 'behind', 'catching_up', 'corrupt_store'])
    assert.ok((told.get(reason) ?? 0) > SEEDS / 8, `${reason}: ${told.get(reason)}`)
  assert.ok(compared > 5 * SEEDS && stood > SEEDS / 8, `${compared} compared, ${stood} over restarts`)
})
