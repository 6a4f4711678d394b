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
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  let leastOfLast = 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) cost = Math.min(cost, beforeLast[j - 2]! + 1)
      row.push(cost)
      least = Math.min(least, cost)
    }
    // A swap builds on the row before the last.
    if (least > limit && leastOfLast >= limit) return least
    leastOfLast = least
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
