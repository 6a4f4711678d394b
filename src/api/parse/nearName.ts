import { editDistance } from '../../errors/nearestName.js'

const MAX_EDITS = 2

/** Names that clients of other services send for ours, folded: letter case and separators are no difference. */
const SENT_FOR: ReadonlyMap<string, string> = new Map([
  ['page', 'page_number'],
  ['pagenum', 'page_number'],
  ['offset', 'page_number'],
  ['skip', 'page_number'],
  ['limit', 'page_size'],
  ['perpage', 'page_size'],
  ['size', 'page_size'],
  ['sort', 'order'],
  ['netid', 'network_id'],
  ['depositcnt', 'deposit_count'],
  ['destaddr', 'to_address'],
  ['origintokenaddress', 'token_address'],
])

/** Parameters of peers' dialects that change what an answer has, and that have no counterpart here. */
const IN_DIALECTS: ReadonlyMap<string, string> = new Map([['includeallfields', 'aggkit']])

/** Tells the names of one route from those that are nearly one of them, and these from a stranger's (tracing, cache busting). */
export class KnownNames {
  private readonly names: readonly { readonly name: string; readonly letters: number }[]

  constructor(names: readonly string[]) {
    this.names = names.map((name) => ({ name, letters: letterSet(name) }))
  }

  /**
   * @param strange a name that is none of the route's.
   * @param given what the query has under names of the route.
   * @returns what is wrong with it, or undefined: then it is ignored.
   */
  complaint(strange: string, given: Readonly<Record<string, unknown>>): string | undefined {
    const lower = strange.toLowerCase()
    const folded = lower.replaceAll('-', '').replaceAll('_', '')
    const dialect = IN_DIALECTS.get(folded)
    if (dialect !== undefined)
      return `unknown parameter ${JSON.stringify(strange)}, it belongs to the ${dialect} dialect`
    const meant = this.sentFor(folded) ?? this.near(lower.replaceAll('-', '_'), given)
    return meant === undefined || given[meant] !== undefined
      ? undefined
      : `unknown parameter ${JSON.stringify(strange)}, did you mean ${meant}?`
  }

  private sentFor(folded: string): string | undefined {
    const meant = SENT_FOR.get(folded)
    return this.names.some(({ name }) => name === meant) ? meant : undefined
  }

  /** The nearest name, of two that are as near the one that the query does not have. */
  private near(strange: string, given: Readonly<Record<string, unknown>>): string | undefined {
    const letters = letterSet(strange)
    let best: string | undefined
    let bestEdits = MAX_EDITS + 1
    for (const known of this.names) {
      const { name } = known
      // Also keeps names of thousands of letters away from the quadratic comparison.
      if (Math.abs(name.length - strange.length) > MAX_EDITS) continue
      // An edit takes one letter out and puts one in at most.
      if (countBits(letters ^ known.letters) > 2 * MAX_EDITS) continue
      const edits = editDistance(strange, name, MAX_EDITS)
      if (edits < bestEdits || (edits === bestEdits && best !== undefined && given[best] !== undefined)) {
        best = name
        bestEdits = edits
      }
    }
    return best
  }
}

/** Which letters a name has, one bit for each; others share bits, which makes names more alike only. */
function letterSet(name: string): number {
  let letters = 0
  for (let at = 0; at < name.length; at++) letters |= 1 << (name.charCodeAt(at) & 31)
  return letters
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
