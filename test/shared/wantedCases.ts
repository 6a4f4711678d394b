import { suite, type TestContext, test } from 'node:test'

/** `BDS_TEST_SHARD=2/6`: of the cases that are wanted, the second of every six. Shards run beside each other, or one after the other. */
const shard = readShard(process.env.BDS_TEST_SHARD)
let wantedSoFar = 0
/** `BDS_TEST_AT_ONCE`: how many cases of a file run beside each other. */
const casesAtOnce = Number(process.env.BDS_TEST_AT_ONCE || 1)
const cases: { readonly title: string; readonly body: (t: TestContext) => Promise<void> }[] = []

/**
 * The smallest run that a case is part of: `short` runs with every `npm run test:shared`, `smoke` has each kind of case once,
 * on one recorded set and at one moment, and `all` has each kind on each set at each moment.
 */
export type CaseRun = 'short' | 'smoke' | 'all'

/**
 * A case of a matrix, which runs if it is wanted: `BDS_TEST_CASES` names the run, `short` if it is empty. With any other value those
 * cases run whose title matches it as a regular expression.
 */
export function matrixTest(title: string, run: CaseRun, body: (t: TestContext) => Promise<void>): void {
  if (isNamed(title, run) && wantedSoFar++ % shard.count === shard.index) cases.push({ title, body })
}

/** Runs the cases. Without any the file has no test, which is a failure of the run. */
export function runMatrix(name: string): void {
  if (cases.length === 0) return
  suite(name, { concurrency: casesAtOnce }, () => {
    for (const { title, body } of cases) test(title, body)
  })
}

function isNamed(title: string, run: CaseRun): boolean {
  const wanted = process.env.BDS_TEST_CASES || 'short'
  if (wanted === 'all') return true
  if (wanted === 'smoke') return run !== 'all'
  if (wanted === 'short') return run === 'short'
  return new RegExp(wanted).test(title)
}

/** @throws Error on anything but `i/n` with 1 ≤ i ≤ n: a shard that nobody runs would look like a green matrix. */
function readShard(text: string | undefined): { readonly index: number; readonly count: number } {
  if (text === undefined || text === '') return { index: 0, count: 1 }
  const [, index, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(text) ?? []
  if (index === undefined || Number(index) > Number(count))
    throw new Error(`BDS_TEST_SHARD is ${text}, expected i/n with 1 ≤ i ≤ n`)
  return { index: Number(index) - 1, count: Number(count) }
}
