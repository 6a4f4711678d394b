/** `BDS_TEST_SHARD=2/6`: of the cases that are wanted, the second of every six. Shards run beside each other, or one after the other. */
const shard = readShard(process.env.BDS_TEST_SHARD)
let wantedSoFar = 0

/**
 * Which cases of a matrix run: those marked as short; with `BDS_TEST_CASES=all` every one; with any other value those
 * whose title matches it as a regular expression.
 */
export function isWanted(title: string, isShort: boolean): boolean {
  const wanted = process.env.BDS_TEST_CASES
  const isNamed =
    wanted === undefined || wanted === '' ? isShort : wanted === 'all' || new RegExp(wanted).test(title)
  return isNamed && wantedSoFar++ % shard.count === shard.index
}

/** @throws Error on anything but `i/n` with 1 ≤ i ≤ n: a shard that nobody runs would look like a green matrix. */
function readShard(text: string | undefined): { readonly index: number; readonly count: number } {
  if (text === undefined || text === '') return { index: 0, count: 1 }
  const [, index, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(text) ?? []
  if (index === undefined || Number(index) > Number(count))
    throw new Error(`BDS_TEST_SHARD is ${text}, expected i/n with 1 ≤ i ≤ n`)
  return { index: Number(index) - 1, count: Number(count) }
}
