import type { ProgressLine } from '../input/progressBar.js'
import type { AskedService } from './askedService.js'
import type { ChainWitness } from './chainWitness.js'

/** One of both services is right, both are, none is, or nobody could tell. */
type Supported = 'ours' | 'theirs' | 'both' | 'neither' | 'unknown'

export interface Verdict {
  readonly chain: Supported
  /** What was looked at. */
  readonly because: string
}

interface Difference extends Verdict {
  /** `bridge 5 of network 1`. */
  readonly what: string
  /** The field that differs; `row` where one has no such row, `order` where rows stand in another order. */
  readonly field: string
  /** What each tells; null: nothing. */
  readonly ours: string | null
  readonly theirs: string | null
}

/** One value for each of both. */
export interface Pair<T> {
  readonly ours: T
  readonly theirs: T
}

/** What is compared, and with what help. */
export interface Comparison {
  readonly services: Pair<AskedService>
  readonly networkIds: readonly number[]
  /** Bridges of each network that are looked at one by one, with their proofs. */
  readonly sample: number
  /** Time until differences are looked at once more, in which a service that is behind may catch up. */
  readonly settleMs: number
  readonly witness: ChainWitness
  readonly findings: Findings
  readonly progress: Pick<ProgressLine, 'show'>
}

const MOST_KEPT = 1_000

/** What a comparison has found so far. */
export class Findings {
  /** The first thousand. */
  readonly differences: Difference[] = []
  differenceCount = 0
  /** What is no difference but should be known, each once. */
  readonly notes = new Set<string>()
  /** What was compared → how many. */
  readonly compared = new Map<string, number>()

  add(difference: Difference): void {
    this.differenceCount++
    if (this.differences.length < MOST_KEPT) this.differences.push(difference)
  }

  count(what: string, more = 1): void {
    this.compared.set(what, (this.compared.get(what) ?? 0) + more)
  }
}

export async function both<T>(
  { ours, theirs }: Pair<AskedService>,
  ask: (service: AskedService) => Promise<T>,
): Promise<Pair<T>> {
  const [one, other] = await Promise.all([ask(ours), ask(theirs)])
  return { ours: one, theirs: other }
}

/** @param isRight undefined where it could not be told. */
export function verdictOf(isRight: Pair<boolean | undefined>, because: string): Verdict {
  const { ours, theirs } = isRight
  if (ours === undefined || theirs === undefined) return { chain: 'unknown', because }
  if (ours) return { chain: theirs ? 'both' : 'ours', because }
  return { chain: theirs ? 'theirs' : 'neither', because }
}

/** `count` numbers from 0 to `total` − 1, spread evenly, the last one among them; each of them where there are no more. */
export function spread(total: number, count: number): number[] {
  const most = Math.min(total, count)
  if (most === 1) return [total - 1]
  return Array.from({ length: most }, (_, at) => Math.round((at * (total - 1)) / (most - 1)))
}
