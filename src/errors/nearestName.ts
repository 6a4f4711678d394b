/**
 * The known name that a person most likely meant, for messages like "unknown key `prot`: did you mean `port`?".
 * Case does not count, nor dashes in place of underscores. At most a third of the letters may differ; or one name begins
 * with the whole of the other (`rpc_url` for `rpc`).
 * @returns undefined when no known name is near.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = normalised(name)
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, normalised(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? sameBeginning(wanted, known)
}

/** The longest known name that `wanted` begins with; else the known name that begins with `wanted`, if there is only one. */
function sameBeginning(wanted: string, known: readonly string[]): string | undefined {
  const begun = known.filter((candidate) => wanted.startsWith(`${normalised(candidate)}_`))
  if (begun.length > 0) return begun.reduce((left, right) => (right.length > left.length ? right : left))
  const longer = known.filter((candidate) => normalised(candidate).startsWith(`${wanted}_`))
  return longer.length === 1 ? longer[0] : undefined
}

function normalised(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/**
 * Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
 * @param limit the search stops once the distance exceeds it, and returns some number above it.
 */
export function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  let from = 0
  const shorter = Math.min(a.length, b.length)
  while (from < shorter && a.charCodeAt(from) === b.charCodeAt(from)) from++
  let cut = 0
  while (cut < shorter - from && a.charCodeAt(a.length - 1 - cut) === b.charCodeAt(b.length - 1 - cut)) cut++
  const rows = a.length - from - cut
  const columns = b.length - from - cut
  const beyond = limit + 1
  if (Math.abs(rows - columns) > limit) return beyond
  let [beforeLast, last, row] = kept
  for (let j = 0; j <= columns; j++) last[j] = j
  let leastOfLast = 0
  for (let i = 1; i <= rows; i++) {
    // Outside of this band every distance exceeds the limit.
    const first = Math.max(1, i - limit)
    const end = Math.min(columns, i + limit)
    row[first - 1] = first === 1 ? i : beyond
    let least = row[first - 1]!
    const unit = a.charCodeAt(from + i - 1)
    for (let j = first; j <= end; j++) {
      const other = b.charCodeAt(from + j - 1)
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (unit === other ? 0 : 1))
      const isSwap =
        i > 1 && j > 1 && unit === b.charCodeAt(from + j - 2) && other === a.charCodeAt(from + i - 2)
      if (isSwap) cost = Math.min(cost, beforeLast[j - 2]! + 1)
      row[j] = cost
      if (cost < least) least = cost
    }
    row[end + 1] = beyond
    // A swap builds on the row before the last.
    if (least > limit && leastOfLast >= limit) return least
    leastOfLast = least
    const free = beforeLast
    beforeLast = last
    last = row
    row = free
  }
  return last[columns]!
}

/** Rows of `editDistance`, kept because clients choose how often it is called: new ones took most of its time. */
const kept: readonly [number[], number[], number[]] = [[], [], []]
