const MAX_EDITS = 2

/**
 * The known name that an unknown one was probably meant to be: same but for letter case or dashes, or at most two letters
 * added, dropped or replaced (`form_address`, `pageSize`).
 * @returns undefined when none is near: then the parameter is a stranger's (tracing, cache busting).
 */
export function findNearName(unknown: string, known: readonly string[]): string | undefined {
  const folded = fold(unknown)
  let best: string | undefined
  let bestEdits = MAX_EDITS + 1
  for (const name of known) {
    if (Math.abs(name.length - folded.length) > MAX_EDITS) continue
    const edits = editDistance(folded, fold(name))
    if (edits < bestEdits) {
      best = name
      bestEdits = edits
    }
  }
  return best
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** Levenshtein distance; both texts are short by then. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const replace = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(replace, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[right.length]!
}
