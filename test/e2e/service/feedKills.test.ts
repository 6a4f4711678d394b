import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../support/freePort.js'
import { RandomWorld } from '../../support/randomWorld.js'
import { startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { untilEqual } from '../../support/until.js'
import { FeedFollower, readLists } from './feedFollower.js'

/** How many worlds, and the seed of the first one: `BDS_TEST_SEEDS=100 BDS_TEST_SEED=1`. */
const SEEDS = Number(process.env.BDS_TEST_SEEDS ?? 2)
const FIRST = Number(process.env.BDS_TEST_SEED ?? 1)
const ROUNDS = 4

for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
  test(`seed ${seed}: over both protocols the events alone say what the lists hold, though the service is killed and connections break`, async (context) => {
    const numbers = new TestNumbers(seed + 1_000)
    const source = new RandomWorld(seed)
    const { world } = source
    for (let steps = 20; steps > 0; steps--) source.step()
    const configFile = (await serveWorld(context, world)).configFile('followed')
    const port = await freePort()
    const start = () =>
      startService(context, configFile, ['--http-port', String(port), '--log-level', 'warn'])
    let service = await start()
    const followers = (['stream', 'socket'] as const).map(
      (protocol) => new FeedFollower(port, world.networkIds, protocol),
    )
    const following = Promise.all(followers.map((follower) => follower.follow()))
    context.after(() => {
      for (const follower of followers) follower.end()
    })
    const play = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) {
        for (let acts = 2 + numbers.below(5); acts > 0; acts--) {
          for (let steps = 1 + numbers.below(6); steps > 0; steps--) source.step()
          if (numbers.chance(0.4)) source.reorg()
          if (numbers.chance(0.3)) numbers.pick(followers).break()
          await delay(numbers.below(120))
        }
        if (numbers.chance(0.6)) {
          await service.kill('SIGKILL')
          for (let steps = numbers.below(8); steps > 0; steps--) source.step()
          if (numbers.chance(0.5)) source.reorg()
          service = await start()
        }
        await inStep(service, world)
        for (const [at, follower] of followers.entries())
          await untilEqual(
            async () => compared(follower, (await readLists(port, world.networkIds)).holdings),
            undefined,
            `seed ${seed}, round ${round}, follower ${at}: what it holds and not the lists, or the other way round`,
          )
      }
    }
    await Promise.race([play(), following.then(() => assert.fail('a follower has ended'))])
    for (const follower of followers) follower.end()
    await following
    for (const { events, rereads, connects } of followers) {
      assert.ok(events > 10, `${events} events`)
      assert.ok(connects > 1, `${connects} connections, ${rereads} of them after lists`)
    }
  })

/** @returns undefined where both hold the same. */
function compared(follower: FeedFollower, lists: FeedFollower['holdings']): object | undefined {
  const { holdings } = follower
  const differences = {
    bridges: difference(holdings.bridges, lists.bridges, String),
    claims: difference(holdings.claims, lists.claims, ({ text }) => text),
    claimable: difference(
      new Map([...holdings.claimable].filter(([, network]) => !follower.isHalted(network))),
      new Map([...lists.claimable].filter(([, network]) => !follower.isHalted(network))),
      String,
    ),
  }
  return Object.values(differences).every((rows) => rows.length === 0) ? undefined : differences
}

function difference<Row>(
  left: ReadonlyMap<string, Row>,
  right: ReadonlyMap<string, Row>,
  textOf: (row: Row) => string,
): string[] {
  const lines = (rows: ReadonlyMap<string, Row>) => [...rows].map(([key, row]) => `${key} ${textOf(row)}`)
  const [ours, theirs] = [lines(left), lines(right)]
  return [
    ...ours.filter((line) => !theirs.includes(line)).map((line) => `events: ${line}`),
    ...theirs.filter((line) => !ours.includes(line)).map((line) => `lists: ${line}`),
  ]
}
