import { editDistance } from '../../errors/nearestName.js'

const MAX_EDITS = 2

/** No longer name is near one of ours, even with separators strewn in. */
const MAX_NAME_LENGTH = 64

/** Names that other services have for our parameters → ours. Theirs are folded: in lower case and without separators. */
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

/** Parameters of other services that change which fields an answer has, and that have no counterpart here → the service. */
const IN_DIALECTS: ReadonlyMap<string, string> = new Map([['includeallfields', 'aggkit']])

/**
 * The parameter names of one route. Finds unknown names that a client most likely meant for one of them; any other unknown name
 * belongs to somebody else (tracing, cache busting) and is ignored.
 */
export class KnownNames {
  private readonly names: readonly { readonly name: string; readonly letters: number }[]

  constructor(names: readonly string[]) {
    this.names = names.map((name) => ({ name, letters: letterSet(name) }))
  }

  /**
   * @param strange a name that the route does not have.
   * @param given the query's parameters under names that the route has.
   * @returns what is wrong with the name; undefined when it is to be ignored.
   */
  complaint(strange: string, given: Readonly<Record<string, unknown>>): string | undefined {
    if (strange.length > MAX_NAME_LENGTH) return undefined
    const lower = strange.toLowerCase()
    const folded = withoutSeparators(lower)
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

  /** The nearest name. Of two names that are equally near, it is the one that the query does not have yet. */
  private near(strange: string, given: Readonly<Record<string, unknown>>): string | undefined {
    const letters = letterSet(strange)
    let best: string | undefined
    let bestEdits = MAX_EDITS + 1
    for (const known of this.names) {
      const { name } = known
      // These two leave few names to `editDistance`, which takes fifty times as long.
      if (Math.abs(name.length - strange.length) > MAX_EDITS) continue
      // One edit removes at most one letter and adds at most one.
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

function withoutSeparators(name: string): string {
  return name.includes('_') || name.includes('-') ? name.replaceAll('-', '').replaceAll('_', '') : name
}

/**
 * Which characters a name has, as bits: one for each letter. Other characters share bits with letters, so two names may look more alike
 * than they are, but never less.
 */
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
