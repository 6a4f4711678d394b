import assert from 'node:assert/strict'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { NamedQuery } from '../../src/pool/queryCodec.js'
import { prepareStores } from '../../src/store/openStores.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { type CompiledMerkle, createHasher } from '../../src/wasm/wasmModule.js'
import { buildStores, type WritingRates } from './buildStores.js'
import { comparable } from './comparable.js'
import { type DialectTimes, timeDialects } from './dialects.js'
import { type Call, medianUs } from './measure.js'
import { openOurWorker } from './ourWorker.js'
import { queryConfig } from './queryConfig.js'
import { pointOf, type Question, questionsOf, sampledDeposits } from './questions.js'
import { SqliteRival } from './sqliteRival.js'
import { measureStore, type StoreBytes } from './storeBytes.js'
import { SERVED } from './traffic.js'

/** Costs of one question, in µs of CPU time. */
export interface Timed {
  readonly question: Question
  /** The whole work of a query thread, from query bytes to reply bytes. */
  readonly oursUs: number
  /** The part of it for the entity tag. */
  readonly tagUs: number
  readonly bodyBytes: number
  readonly rivalUs: number | undefined
}

export interface SizeResult {
  readonly bridges: number
  readonly claims: number
  readonly timed: readonly Timed[]
  /** Cost of a point query in a batch of 32, which are spread over the store. */
  readonly batchedPointUs: number
  readonly writing: WritingRates
  readonly dialects: readonly DialectTimes[]
  readonly stores: ReadonlyMap<number, StoreBytes>
  readonly rivalBytes: number | undefined
}

const BATCH = 32
const BATCHES = 256
/** Distance between the points of a batch: with this prime, hardly any two lie near each other. */
const STRIDE = 7_919

/** Builds stores of one size, compares the answers, measures the questions, and removes the stores. */
export async function raceSize(
  folder: string,
  compiled: CompiledMerkle,
  bridges: number,
  hasRival: boolean,
  onlyDialects: boolean,
): Promise<SizeResult> {
  const own = join(folder, String(bridges))
  mkdirSync(own)
  const config = queryConfig(own)
  const rivalFile = join(own, 'rival.sqlite')
  const rival = hasRival ? new SqliteRival(rivalFile, createHasher(compiled)) : undefined
  const sampled = new Set(sampledDeposits(bridges))
  const transactions = new Map<number, Uint8Array>()
  const built = buildStores(config, compiled, bridges, {
    add(networkId, blocks) {
      rival?.add(networkId, blocks)
      if (networkId !== 0) return
      for (const { events } of blocks)
        for (const event of events)
          if (event.type === 'deposit' && sampled.has(event.depositCount))
            transactions.set(event.depositCount, event.transactionHash)
    },
  })
  await built.close()
  rival?.finish()
  const stores = new Map<number, StoreBytes>()
  for (const networkId of SERVED)
    stores.set(networkId, await measureStore(shardDirectory(config.dataDir, networkId)))

  const guard = prepareStores(config)
  const worker = openOurWorker(config, compiled, built.status)
  const questions = onlyDialects
    ? []
    : questionsOf(built.traffic, (depositCount) => transactions.get(depositCount)!, built.claimsOn(1))
  const ask = ({ operation, query }: NamedQuery): Buffer =>
    operation === 'getBridges' ? rival!.bridges(query as never) : rival!.claims(query as never)
  const timed: Timed[] = []
  for (const question of questions) {
    const batches = question.queries.map((query) => worker.encode([query]))
    const bodies = batches.map((batch) => Uint8Array.from(worker.body(worker.run(batch))))
    if (rival !== undefined)
      for (const [at, query] of question.queries.entries())
        assert.deepEqual(comparable(bodies[at]!), comparable(ask(query)), question.name)
    const variant = <T>(of: readonly T[], at: number): T => of[at % of.length]!
    const calls: Call[] = [
      (at) => worker.run(variant(batches, at)),
      (at) => worker.tag(variant(bodies, at)),
      ...(rival === undefined ? [] : [(at: number) => ask(variant(question.queries, at))]),
    ]
    const [oursUs, tagUs, rivalUs] = medianUs(calls)
    const bodyBytes = bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length
    timed.push({ question, oursUs: oursUs!, tagUs: tagUs!, bodyBytes, rivalUs })
  }
  const batches = Array.from({ length: BATCHES }, (_, batch) =>
    worker.encode(
      Array.from({ length: BATCH }, (_, at) => pointOf(((BATCH * batch + at) * STRIDE) % bridges)),
    ),
  )
  const batchedPointUs = medianUs([(at) => worker.run(batches[at % BATCHES]!)])[0]! / BATCH
  const dialects = timeDialects(worker, bridges, built.claimsOn(1))
  await worker.close()
  await guard.close()
  rival?.close()
  const rivalBytes = hasRival ? statSync(rivalFile).size : undefined
  rmSync(own, { recursive: true, force: true, maxRetries: 5 })
  return {
    bridges,
    claims: built.claims,
    timed,
    batchedPointUs,
    dialects,
    writing: built.writing,
    stores,
    rivalBytes,
  }
}
