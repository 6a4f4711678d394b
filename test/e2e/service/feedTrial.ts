import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { EventClient } from '../../support/eventClient.js'
import { LostClaims } from '../../support/lostClaims.js'
import { RandomWorld } from '../../support/randomWorld.js'
import type { ServiceProcess } from '../../support/serviceProcess.js'
import { inStep, type ServiceWorld, serveWorld } from '../../support/serviceWorld.js'
import type { Cleaner } from '../../support/tempFolder.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { until, untilEqual } from '../../support/until.js'
import { FeedFollower, haltLines, readLists } from './feedFollower.js'

/** The seeds to try: `BDS_TEST_SEEDS=100 BDS_TEST_SEED=1` for a hundred of them, from the first. */
export function feedSeeds(usually: number): number[] {
  const first = Number(process.env.BDS_TEST_SEED ?? 1)
  return Array.from({ length: Number(process.env.BDS_TEST_SEEDS ?? usually) }, (_, at) => first + at)
}

const ROUNDS = 4
const ROLLBACK_BLOCKS = 32
/** Without asking a manager of the past for roots, which nobody tells while claims are lost. */
const SETTINGS = [`rollback_blocks = ${ROLLBACK_BLOCKS}`, 'log_range = 20', 'ger_injection = "event"']
/** Contracts are asked again after 40 to 120 seconds, and some tries later the network starts over. */
const LONGEST_HEALING_MS = 240_000

export interface TrialWorld {
  readonly seed: number
  readonly source: RandomWorld
  readonly lost: LostClaims | undefined
  configFile(name: string): string
}

/** A random world after some steps, and RPC servers for it. With every other seed a network of it has lost claims, for which it starts over later. */
export async function serveTrial(context: Cleaner, seed: number): Promise<TrialWorld> {
  const source = new RandomWorld(seed)
  for (let steps = 20; steps > 0; steps--) source.step()
  const { world } = source
  const lost =
    seed % 2 === 1
      ? new LostClaims(source, new TestNumbers(seed).pick(world.networkIds), ROLLBACK_BLOCKS)
      : undefined
  const { rpc, configFile }: ServiceWorld = await serveWorld(context, world)
  lost?.hideFrom(rpc.get(lost.networkId)!.endpoint)
  return { seed, source, lost, configFile: (name) => configFile(name, SETTINGS) }
}

export interface FeedTrial extends Pick<TrialWorld, 'seed' | 'source' | 'lost'> {
  /** Each is that of one service, however often it is killed. */
  readonly ports: readonly number[]
  /** Starts the service of a port. */
  start(at: number): Promise<ServiceProcess>
}

/**
 * Has users follow events over both protocols, now of this service, now of that, while the world goes on and goes back, services are killed and
 * connections break. Fails when what they hold is not what the lists of every service say, once all are in step.
 */
export async function followThrough(
  context: Cleaner,
  { seed, source, lost, ports, start }: FeedTrial,
): Promise<void> {
  const numbers = new TestNumbers(seed + 1_000)
  // Of their own: when they are drawn depends on time.
  const ways = new TestNumbers(seed + 2_000)
  const { world } = source
  const services: ServiceProcess[] = []
  for (const at of ports.keys()) services.push(await start(at))
  const followers = (['stream', 'socket'] as const).map(
    (protocol) => new FeedFollower(() => ways.pick(ports), world.networkIds, protocol),
  )
  const following = Promise.all(followers.map((follower) => follower.follow()))
  context.after(() => {
    for (const follower of followers) follower.end()
  })
  // Not in the first round, at whose end every service has stored the network without them.
  const foundIn = 1 + numbers.below(ROUNDS - 2)
  const play = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      if (round === foundIn) lost?.find()
      // All are connected by then, and chance may break none.
      if (round === 1) for (const follower of followers) follower.break()
      for (let acts = 2 + numbers.below(5); acts > 0; acts--) {
        for (let steps = 1 + numbers.below(6); steps > 0; steps--) source.step()
        if (numbers.chance(0.4)) source.reorg()
        if (numbers.chance(0.3)) numbers.pick(followers).break()
        await delay(numbers.below(120))
      }
      if (numbers.chance(0.6)) {
        const at = numbers.below(services.length)
        await services[at]!.kill('SIGKILL')
        for (let steps = numbers.below(8); steps > 0; steps--) source.step()
        if (numbers.chance(0.5)) source.reorg()
        services[at] = await start(at)
      }
      if (round === foundIn && lost !== undefined) await startsOver(services[0]!, ports[0]!, lost.networkId)
      for (const service of services) await inStep(service, world, LONGEST_HEALING_MS)
      for (const [at, follower] of followers.entries())
        for (const port of ports)
          await untilEqual(
            async () => compared(follower, await readLists(port, world.networkIds)),
            undefined,
            `seed ${seed}, round ${round}, follower ${at}, service ${ports.indexOf(port)}: what it holds and not the lists, or the other way round`,
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
}

/** Waits until the feed of the network has told one. */
async function startsOver(service: ServiceProcess, port: number, networkId: number): Promise<void> {
  const { headers } = await service.get('/bridge/v1/token-mappings')
  const feed = headers
    .get('x-feed-position')!
    .split(',')
    .find((position) => position.startsWith(`${networkId}.`))!
  const fromFirst = feed.replace(/:\d+$/, ':0')
  const client = await EventClient.open(port, `?network_ids=${networkId}&types=start_over`, fromFirst)
  const count = () => client.events.length
  await until(count, (told) => told > 0, `network ${networkId} starts over`, LONGEST_HEALING_MS)
  client.close()
}

/** @returns undefined where both hold the same. */
function compared(
  follower: FeedFollower,
  { holdings: lists, halts }: Awaited<ReturnType<typeof readLists>>,
): object | undefined {
  const { holdings } = follower
  const differences = {
    bridges: difference(holdings.bridges, lists.bridges, String),
    // One that an administrator set is listed when its deposit is known; its event comes at once.
    claims: difference(
      new Map(
        [...holdings.claims].filter(
          ([key]) => lists.claims.has(key) || holdings.bridges.has(key.split(' ')[1]!),
        ),
      ),
      lists.claims,
      ({ text }) => text,
    ),
    claimable: difference(
      new Map([...holdings.claimable].filter(([, network]) => !follower.isHalted(network))),
      new Map([...lists.claimable].filter(([, network]) => !follower.isHalted(network))),
      String,
    ),
  }
  const told = { events: follower.halts, status: haltLines(halts) }
  const isSame =
    Object.values(differences).every((rows) => rows.length === 0) && told.events.join() === told.status.join()
  return isSame ? undefined : { ...differences, halts: told }
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
