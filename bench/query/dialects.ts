import assert from 'node:assert/strict'
import { dialectForms, dialects } from '../../src/api/dialects/dialects.js'
import type { Dialect } from '../../src/api/dialects/frame/dialect.js'
import type { NamedQuery } from '../../src/pool/queryCodec.js'
import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import { markdownTable, type Target, targetTable } from '../micro/report.js'
import { medianUs } from './measure.js'
import type { OurWorker } from './ourWorker.js'
import { pointOf } from './questions.js'

/** What dialects ask, beside the same in our own API: one query, spelled by each. */

type Asked = Pick<NamedQuery, 'operation' | 'query'>

interface Question {
  readonly name: string
  readonly asked: readonly Asked[]
  /** Labels of the endpoints that answer it. */
  readonly labels: readonly string[]
}

export interface DialectTimes {
  readonly name: string
  /** µs of CPU time in the worker. */
  readonly ownUs: number
  /** By label. */
  readonly dialectUs: ReadonlyMap<string, number>
}

const ROWS = 20
const VARIANTS = 64
/** A prime: variants lie all over the store. */
const STRIDE = 7_919
/** The least that a dialect may have of the rate of our own API. */
const LEAST_RATIO = 0.85

/** @param claimed deposits of network 0 that were claimed on networks that are indexed: each has a proof. */
function questionsOf(bridges: number, claimsOn1: number, claimed: readonly number[]): readonly Question[] {
  const [l1, l2] = [asNetworkId(0), asNetworkId(1)]
  const variants = (ask: (variant: number) => Asked): readonly Asked[] =>
    Array.from({ length: VARIANTS }, (_, variant) => ask(variant))
  const pageOf = (rows: number, variant: number) => {
    const skipped = ROWS * ((variant * STRIDE) % Math.floor(rows / ROWS))
    return { pageNumber: skipped + 1, skipped, pageSize: ROWS }
  }
  const front = (variant: number) => ({ pageNumber: 1, skipped: ROWS * (variant % 16), pageSize: ROWS })
  const depositOf = (variant: number) => asDepositCount(claimed[variant % claimed.length]!)
  return [
    {
      name: `page of ${ROWS} bridges`,
      asked: variants((at) => ({
        operation: 'getBridges',
        query: { networkId: l1, ...pageOf(bridges, at) },
      })),
      labels: ['aggkit.bridges', 'zkevm.bridges', 'hub.transactions'],
    },
    {
      name: `page of ${ROWS} bridges of all networks`,
      asked: variants((at) => ({ operation: 'getBridges', query: front(at) })),
      labels: ['zkevm.bridges', 'hub.transactions'],
    },
    {
      name: `page of ${ROWS} claims`,
      asked: variants((at) => ({
        operation: 'getClaims',
        query: { networkId: l2, ...pageOf(claimsOn1, at) },
      })),
      labels: ['aggkit.claims', 'zkevm.claims'],
    },
    {
      name: `page of ${ROWS} claims of all networks`,
      asked: variants((at) => ({ operation: 'getClaims', query: front(at) })),
      labels: ['zkevm.claims'],
    },
    {
      name: `page of ${ROWS} token mappings`,
      asked: variants((at) => ({
        operation: 'getTokenMappings',
        query: { networkId: l2, pageNumber: 1 + (at % 10), pageSize: ROWS },
      })),
      labels: ['aggkit.tokenMappings', 'hub.tokenMappings'],
    },
    {
      name: 'one bridge',
      asked: variants((at) => ({
        operation: 'getBridges',
        query: { networkId: l1, pageNumber: 1, pageSize: 1, depositCounts: [depositOf(at)] },
      })),
      labels: ['aggkit.bridgeByDepositCount', 'zkevm.bridge', 'proof.bridge', 'hub.transaction'],
    },
    {
      name: 'index for a bridge',
      asked: variants((at) => ({
        operation: 'getL1InfoTreeIndex',
        query: { networkId: l1, depositCount: depositOf(at) },
      })),
      labels: ['aggkit.l1InfoTreeIndex'],
    },
    {
      name: 'claim proof',
      asked: variants((at) => ({
        operation: 'getClaimProof',
        query: { networkId: l1, depositCount: depositOf(at) },
      })),
      labels: ['aggkit.claimProof', 'zkevm.merkleProof'],
    },
    {
      name: 'claim proof with metadata',
      asked: variants((at) => ({
        operation: 'getClaimProof',
        query: { networkId: l1, depositCount: depositOf(at), withMetadata: true },
      })),
      labels: ['hub.claimProof'],
    },
  ]
}

/** Place of each endpoint's form among all. */
const forms = new Map(
  Object.values<{ readonly latest: Dialect }>(dialects).flatMap(({ latest }) =>
    latest.endpoints.map(({ label, form }) => [label, dialectForms.indexOf(form)] as const),
  ),
)

/** Asks each question in our own spelling and in those of the dialects, in turn. */
export function timeDialects(worker: OurWorker, bridges: number, claimsOn1: number): readonly DialectTimes[] {
  return questionsOf(bridges, claimsOn1, claimedDeposits(worker, bridges)).map(({ name, asked, labels }) => {
    const calls = [undefined, ...labels].map((label) => {
      const form = label === undefined ? undefined : forms.get(label)
      assert.ok(label === undefined || form !== undefined, label)
      const batches = asked.map((each) => worker.encode([{ ...each, coding: 'identity', form }]))
      for (const batch of batches) worker.body(worker.run(batch))
      return (at: number) => worker.run(batches[at % batches.length]!)
    })
    const [ownUs, ...others] = medianUs(calls)
    return { name, ownUs: ownUs!, dialectUs: new Map(labels.map((label, at) => [label, others[at]!])) }
  })
}

function claimedDeposits(worker: OurWorker, bridges: number): readonly number[] {
  const spread = Array.from({ length: 2 * VARIANTS }, (_, at) => (at * STRIDE) % bridges)
  return spread.filter((depositCount) => {
    const body = worker.body(worker.run(worker.encode([pointOf(depositCount)])))
    const { bridges: rows } = JSON.parse(Buffer.from(body).toString()) as {
      readonly bridges: readonly { readonly claim_tx_hash: string | null }[]
    }
    return rows[0]!.claim_tx_hash !== null
  })
}

export function dialectTables(times: readonly DialectTimes[]): readonly string[] {
  const rows = times.flatMap(({ name, ownUs, dialectUs }) =>
    [...dialectUs].map(([label, us]) => [name, ownUs.toFixed(2), label, us.toFixed(2), ratio(ownUs, us)]),
  )
  const targets = times.flatMap(({ name, ownUs, dialectUs }) =>
    [...dialectUs].map(
      ([label, us]): Target => ({
        text: `${name}: our own ÷ ${label}`,
        value: ownUs / us,
        atLeast: LEAST_RATIO,
      }),
    ),
  )
  const missed = targets.filter(({ value }) => value < LEAST_RATIO)
  return [
    markdownTable(['', 'our own, µs', 'endpoint', 'µs', 'our own ÷ it'], rows),
    missed.length === 0
      ? `Each has at least ${LEAST_RATIO} of the rate of our own API, which is the target.`
      : targetTable(missed),
  ]
}

const ratio = (own: number, other: number): string => (own / other).toFixed(2)
