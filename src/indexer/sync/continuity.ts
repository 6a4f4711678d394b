import type { FetchedRange } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import type { ChainEvent } from '../../protocol/chainEvent.js'

/**
 * Two windows of history that follow each other, before the first is stored: a deposit that is missing at the end of one
 * shows at the start of the next, while nothing has to be taken back.
 * @param deposits number of deposits that are stored before `range`.
 * @throws ChainDataError `deposit_count_gap`
 */
export function assertContinues(deposits: number, range: FetchedRange, next: FetchedRange): void {
  const last = lastCount(range)
  // A cut or regrown tree: what counts then is the store's business.
  if (last?.type === 'backwardLet' || last?.type === 'forwardLet') return
  const expected = last === undefined ? deposits : last.depositCount + 1
  const first = firstCount(next)
  if (first?.type !== 'deposit' || first.depositCount === expected) return
  throw new ChainDataError(
    'deposit_count_gap',
    `deposit count ${first.depositCount} in block ${first.blockNumber}, expected ${expected}`,
  )
}

type CountEvent = Extract<ChainEvent, { type: 'deposit' | 'backwardLet' | 'forwardLet' }>

function asCount(event: ChainEvent): CountEvent | undefined {
  const { type } = event
  return type === 'deposit' || type === 'backwardLet' || type === 'forwardLet' ? event : undefined
}

/** The last event that says how many deposits there are: one block or two are looked at, mostly. */
function lastCount({ blocks }: FetchedRange): CountEvent | undefined {
  for (let block = blocks.length - 1; block >= 0; block--) {
    const { events } = blocks[block]!
    for (let index = events.length - 1; index >= 0; index--) {
      const event = asCount(events[index]!)
      if (event !== undefined) return event
    }
  }
  return undefined
}

function firstCount({ blocks }: FetchedRange): CountEvent | undefined {
  for (const { events } of blocks)
    for (const each of events) {
      const event = asCount(each)
      if (event !== undefined) return event
    }
  return undefined
}
