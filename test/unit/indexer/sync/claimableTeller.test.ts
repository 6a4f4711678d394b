import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitWatch, createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import { ClaimableTeller } from '../../../../src/indexer/sync/claimableTeller.js'
import { TermProposer } from '../../../../src/replica/termProposer.js'
import { handOn, type Proposer } from '../../../../src/shard/proposer.js'
import type { ClaimableNews, CommandOutcome, ShardCommand } from '../../../../src/shard/shardCommand.types.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const SOME_NEWS: ClaimableNews = { madeFrom: [], stage: 'news', unclaimable: [], claimable: [] }
const APPLIED: CommandOutcome = { type: 'applied' }

/** A teller of network 1, beside network 0. Times are milliseconds since the start. */
function openTeller(proposerOf: (apply: () => CommandOutcome) => Proposer = (apply) => handOn({ apply })) {
  const board = createStatusBoard([0, 1])
  const clock = new VirtualClock()
  const startMs = clock.now()
  const search = {
    /** How often the next looks find something. */
    finds: 0,
    isBehind: false,
    forgotten: 0,
    looks: [] as number[],
    next() {
      this.looks.push(clock.now() - startMs)
      return this.finds-- > 0 ? SOME_NEWS : undefined
    },
    forget() {
      this.forgotten++
    },
  }
  const told: number[] = []
  const outcomes: (CommandOutcome | Error)[] = []
  const apply = (): CommandOutcome => {
    const outcome = outcomes.shift() ?? APPLIED
    if (outcome instanceof Error) throw outcome
    if (outcome.type === 'applied') told.push(clock.now() - startMs)
    return outcome
  }
  const report = { withholdsReadiness: false }
  const failures: unknown[] = []
  const teller = new ClaimableTeller({
    claimables: search,
    proposer: proposerOf(apply),
    commits: new CommitWatch(board),
    clock,
    report,
    failed: async (error, signal) => {
      failures.push(error)
      await clock.sleep(1_000, signal).catch(() => undefined)
    },
  })
  const end = new AbortController()
  const running = teller.run(end.signal)
  const stop = (): Promise<void> => {
    end.abort()
    return running
  }
  const commit = (networkId: number): void => statusRow(board, networkId).add('commits', 1)
  /** Finds something with the next look. */
  const cause = (networkId: number): void => {
    search.finds = 1
    commit(networkId)
  }
  const at = async (ms: number): Promise<void> => {
    await clock.sleep(startMs + ms - clock.now(), end.signal)
  }
  return { board, search, told, outcomes, report, failures, teller, end, at, cause, commit, stop }
}

test('what a commit of any network makes claimable is told at once, whatever else waits, and nothing is looked at without a commit', async () => {
  const { search, told, at, cause, stop } = openTeller()
  await at(1_000)
  cause(0)
  await at(2_000)
  cause(1)
  await at(600_000)
  await stop()
  assert.deepEqual(told, [1_000, 2_000])
  assert.ok(search.looks.length <= 5, `${search.looks.length} looks`)
})

test('commits in a row are looked at twenty times a second, and the last one within 50 ms', async () => {
  const { search, told, at, cause, commit, stop } = openTeller()
  for (let ms = 1_000; ms < 2_000; ms++) {
    await at(ms)
    commit(0)
  }
  cause(0)
  await at(3_000)
  await stop()
  const looks = search.looks.filter((ms) => ms >= 1_000 && ms < 2_000)
  assert.ok(looks.length >= 19 && looks.length <= 21, `${looks.length} looks in a second`)
  assert.ok(told.length === 1 && told[0]! <= 2_049, `${told} ms`)
})

test('nothing is told while nothing can be ready, and what has changed meanwhile as soon as a halt ends', async () => {
  const { board, search, told, report, at, cause, stop } = openTeller()
  await at(1_000)
  report.withholdsReadiness = true
  const before = search.looks.length
  cause(0)
  await at(5_000)
  assert.equal(search.looks.length, before)
  report.withholdsReadiness = false
  statusRow(board, 1).setHaltReason('none')
  await at(6_000)
  await stop()
  assert.deepEqual(told, [5_000])
})

test('while blocks are replaced nothing is told until the new ones are stored', async () => {
  const { told, teller, end, at, cause, stop } = openTeller()
  await at(1_000)
  teller.hold(end.signal)
  cause(1)
  await at(1_700)
  assert.deepEqual(told, [])
  teller.release()
  await at(9_000)
  await stop()
  assert.deepEqual(told, [1_700])
})

test('blocks that do not come are waited for two seconds, however many are taken back meanwhile', async () => {
  const { told, teller, end, at, cause, stop } = openTeller()
  await at(1_000)
  teller.hold(end.signal)
  cause(1)
  await at(2_500)
  teller.hold(end.signal)
  await at(9_000)
  await stop()
  assert.deepEqual(told, [3_000])
})

test('a failure is reported once, what was told is read again, and the next try needs no commit', async () => {
  const { search, told, outcomes, failures, at, cause, stop } = openTeller()
  await at(1_000)
  const full = new Error('no space left on device')
  outcomes.push(full)
  cause(0)
  await at(1_500)
  assert.deepEqual(failures, [full])
  search.finds = 1
  await at(60_000)
  await stop()
  assert.deepEqual(told, [2_000])
  assert.equal(search.forgotten, 1)
})

test('a refused command is worked out anew at once, from what is stored then', async () => {
  const { search, told, outcomes, failures, at, cause, stop } = openTeller()
  await at(1_000)
  outcomes.push({ type: 'refused', reason: 'outdated', message: 'moved on' })
  cause(0)
  search.finds = 2
  await at(60_000)
  await stop()
  assert.deepEqual(told, [1_050])
  assert.equal(search.forgotten, 1)
  assert.deepEqual(failures, [])
})

test('a search that has not seen all goes on though nobody commits, until it has', async () => {
  const { search, told, at, commit, stop } = openTeller()
  await at(1_000)
  search.isBehind = true
  commit(0)
  await at(1_120)
  search.finds = 1
  search.isBehind = false
  await at(60_000)
  await stop()
  assert.deepEqual(told, [1_150])
})

test('one command is on its way at a time: a look waits for its turn among those of the loop, and sees what they have stored', async () => {
  const log: string[] = []
  let store: () => void = () => undefined
  const term: { proposer?: TermProposer } = {}
  const { search, at, cause, stop } = openTeller((apply) => {
    const inLog = async (command: ShardCommand): Promise<CommandOutcome> => {
      log.push(`${command.type} begins`)
      if (command.type === 'applyBlocks') await new Promise<void>((resolve) => (store = resolve))
      const outcome = apply()
      log.push(`${command.type} ends`)
      return outcome
    }
    term.proposer = new TermProposer({ propose: inLog }, () => undefined)
    return term.proposer
  })
  await at(1_000)
  const blocks = term.proposer!.propose({ type: 'applyBlocks' } as ShardCommand)
  const before = search.looks.length
  cause(0)
  await at(1_090)
  assert.equal(search.looks.length, before)
  store()
  await blocks
  await at(2_000)
  await stop()
  assert.deepEqual(log, [
    'applyBlocks begins',
    'applyBlocks ends',
    'noteClaimable begins',
    'noteClaimable ends',
  ])
})

for (const state of ['at rest', 'between two looks', 'held up', 'after a failure'] as const)
  test(`the end of its signal ends it ${state}, and nothing is told afterwards`, async () => {
    const { told, outcomes, teller, end, at, cause, stop } = openTeller()
    await at(1_000)
    if (state === 'held up') teller.hold(end.signal)
    if (state === 'after a failure') outcomes.push(new Error('no space left on device'))
    if (state !== 'at rest') cause(0)
    await at(1_010)
    const before = told.length
    await stop()
    cause(0)
    teller.release()
    await new Promise(setImmediate)
    assert.equal(told.length, before)
  })
