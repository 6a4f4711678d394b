import { editDistance } from '../errors/nearestName.js'

const MAX_EDITS = 2

/**
 * The known parameter that an unknown one was probably meant to be: same but for letter case or dashes, or at most two
 * letters off (`form_address`, `pageSize`).
 * @returns undefined when none is near: then the parameter is a stranger's (tracing, cache busting).
 */
export function findNearName(unknown: string, known: readonly string[]): string | undefined {
  const folded = unknown.toLowerCase().replaceAll('-', '_')
  let best: string | undefined
  let bestEdits = MAX_EDITS + 1
  for (const name of known) {
    // Also keeps names of thousands of letters away from the quadratic comparison.
    if (Math.abs(name.length - folded.length) > MAX_EDITS) continue
    const edits = editDistance(folded, name)
    if (edits < bestEdits) {
      best = name
      bestEdits = edits
    }
  }
  return best
}
