import { react } from '../../../../src/indexer/recovery/recoveryMachine.js'
import type { Effect, Observation, Step } from '../../../../src/indexer/recovery/recoveryMachine.types.js'
import {
  classify,
  everyState,
  isAwaited,
  type Kinds,
  observations,
  type Part,
  parts,
} from './recoveryCases.js'

/** The parts of the state that can change into something that the table tells. */
const told = ['fault', 'halt', 'contracts', 'startOver'] as const

const partNames: Readonly<Record<Part, string>> = {
  fault: 'fault',
  halt: 'halt',
  contracts: 'contracts',
  startOver: 'start over',
  audits: 'audit',
}

function effectWord(effect: Effect): string {
  switch (effect.type) {
    case 'halt':
      return 'halt'
    case 'resume':
      return 'end the halt'
    case 'noteCatchingUp':
      return effect.isCatchingUp ? 'nothing is ready' : 'readiness as the claims tell'
    case 'tellCaughtUp':
      return 'tell that it has caught up'
    case 'tellDispute':
      return 'tell the dispute'
    case 'noteStartOvers':
      return 'store when the next start over may be'
    case 'readCarefully':
      return 'read these blocks with care'
  }
}

const stepWords: Readonly<Record<Step['type'], string>> = {
  takeBack: 'take blocks back',
  compareFinal: 'go back to the newest final block, compare all',
  compareOldest: 'go back as far as undo reaches, compare all',
  emptyShard: 'empty the shard',
  wait: 'wait, longer each time',
  pause: 'wait a second',
  compareAgain: 'compare again',
  leaveOpen: 'nobody can decide it',
  lookAtChain: 'look at the head first',
  nothing: '',
  compareTrees: 'compare counts and roots',
  compareOthers: 'compare what hardly ever changes',
  compareClaims: 'compare claims',
}

interface Outcome {
  readonly before: Kinds
  readonly after: Omit<Kinds, 'audits'>
  /** Effects and step, in words. */
  readonly done: readonly [string, string]
}

/** What follows in all states that have some kinds in common. */
interface Cell {
  readonly kinds: readonly string[]
  /** Per part that is told, the words that would be true of its change. */
  readonly changes: readonly (readonly string[])[]
  readonly done: readonly [string, string]
}

/**
 * The rows of the table: observations, in which states, new state, what is done at once, next step. All states are tried in which the
 * observation can come. A row names only the parts of the state that decide, and the parts that change.
 */
export function transitionRows(): string[][] {
  const sections = Object.entries(observations).map(([what, observation]) => ({
    what,
    rows: rowsOf(outcomesOf(observation)),
  }))
  return [...groupBy(sections, ({ rows }) => JSON.stringify(rows)).values()].flatMap((same) => {
    const names = same.map(({ what }) => what).join(' · ')
    return same[0]!.rows.map((cells, at) => [at === 0 ? names : '', ...cells])
  })
}

function outcomesOf(observation: Observation): Outcome[] {
  const states = everyState().filter(({ state }) => isAwaited(state, observation))
  return states.map(({ kinds, state }) => {
    const { state: next, effects, step } = react(state, observation)
    const done = [effects.map(effectWord).join(', '), step === undefined ? '' : stepWords[step.type]] as const
    return { before: kinds, after: classify(next), done }
  })
}

function rowsOf(outcomes: readonly Outcome[]): string[][] {
  const { by, cells } = leastCells(outcomes)
  const rows: { changes: readonly (readonly string[])[]; done: readonly [string, string]; of: Cell[] }[] = []
  for (const cell of cells) {
    const row = rows.find(({ changes, done }) => {
      return (
        done.join('|') === cell.done.join('|') &&
        both(changes, cell.changes).every((words) => words.length > 0)
      )
    })
    if (row === undefined) rows.push({ ...cell, of: [cell] })
    else {
      row.changes = both(row.changes, cell.changes)
      row.of.push(cell)
    }
  }
  const all = by.map((part) => new Set(outcomes.map(({ before }) => before[part])))
  return rows.map(({ changes, done, of }) => [
    condition(
      by,
      all,
      of.map(({ kinds }) => kinds),
    ),
    changes.flatMap(([word]) => (word === '' ? [] : [word!])).join('; '),
    ...done,
  ])
}

/** The words that are in both lists, list by list. */
function both(a: readonly (readonly string[])[], b: readonly (readonly string[])[]): string[][] {
  return a.map((words, at) => words.filter((word) => b[at]!.includes(word)))
}

/** The fewest parts that decide what follows, and what follows for each combination of their kinds. */
function leastCells(outcomes: readonly Outcome[]): { by: readonly Part[]; cells: Cell[] } {
  for (const by of subsets(parts)) {
    const groups = groupBy(outcomes, ({ before }) => by.map((part) => before[part]).join('|'))
    const cells = [...groups.entries()].flatMap(([key, group]): Cell[] => {
      const [{ done }] = group as [Outcome]
      const changes = told.map((part) => changesOf(part, group))
      const isSame = group.every((one) => one.done.join('|') === done.join('|'))
      const isDecided = isSame && changes.every((words) => words.length > 0)
      return isDecided ? [{ kinds: key === '' ? [] : key.split('|'), changes, done }] : []
    })
    if (cells.length === groups.size) return { by, cells }
  }
  throw new Error('what follows is not decided by the kinds of the state')
}

/** All words that are true of a part's change in each of these states; '' for none. */
function changesOf(part: (typeof told)[number], group: readonly Outcome[]): string[] {
  const words: string[] = []
  const pairs = group.map(
    ({ before, after }) => [withoutCount(before[part]), withoutCount(after[part])] as const,
  )
  const [[, next]] = pairs as [readonly [string, string]]
  if (pairs.every(([before, after]) => before === after)) words.push('')
  if (pairs.every(([, after]) => after === next)) words.push(`${partNames[part]}: ${next}`)
  const isRaised = pairs.every(([before, after]) => after === (before === 'none' ? 'halted' : before))
  if (part === 'halt' && isRaised) words.push('halt: halted, unless it is already')
  return words
}

/** Tries and moves are counted in every state; only conditions tell how many there must be. */
function withoutCount(kind: string): string {
  return kind.split(',')[0]!
}

/** Smaller ones first. */
function subsets<T>(all: readonly T[]): T[][] {
  const each = Array.from({ length: 2 ** all.length }, (_, bits) =>
    all.filter((_part, at) => bits & (1 << at)),
  )
  return each.sort((a, b) => a.length - b.length)
}

/** The combinations of kinds in words. @param all the kinds that each part can have here. */
function condition(
  by: readonly Part[],
  all: readonly ReadonlySet<string>[],
  combinations: readonly (readonly string[])[],
): string {
  const [part, ...rest] = by
  if (part === undefined) return ''
  const kinds = [...new Set(combinations.map(([kind]) => kind!))]
  const restOf = (kind: string): string => {
    const others = combinations.filter(([first]) => first === kind).map(([, ...others]) => others)
    return condition(rest, all.slice(1), others)
  }
  return [...groupBy(kinds, restOf).entries()]
    .map(([others, same]) => [oneOf(part, all[0]!, same), others].filter((text) => text !== '').join('; '))
    .join(' · or · ')
}

function oneOf(part: Part, all: ReadonlySet<string>, kinds: readonly string[]): string {
  if (kinds.length === all.size) return ''
  const others = [...all].filter((kind) => !kinds.includes(kind))
  const [only] = others
  if (others.length === 1 && kinds.length > 1) return `${partNames[part]}: not *${only}*`
  return `${partNames[part]}: ${kinds.map((kind) => `*${kind}*`).join(' or ')}`
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}
