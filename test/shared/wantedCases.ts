/** `BDS_TEST_SHARD=2/6`: of the cases that are wanted, the second of every six. Shards run beside each other, or one after the other. */
const shard = readShard(process.env.BDS_TEST_SHARD)
let wantedSoFar = 0

/**
 * The smallest run that a case is part of: `short` runs with every `npm run test:shared`, `smoke` has each kind of case once,
 * on one recorded set and at one moment, and `all` has each kind on each set at each moment.
 */
export type CaseRun = 'short' | 'smoke' | 'all'

/**
 * Which cases of a matrix run: `BDS_TEST_CASES` names the run, `short` if it is empty. With any other value those run
 * whose title matches it as a regular expression.
 */
export function isWanted(title: string, run: CaseRun): boolean {
  return isNamed(title, run) && wantedSoFar++ % shard.count === shard.index
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
