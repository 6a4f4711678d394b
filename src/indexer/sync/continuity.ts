import type { FetchedRange } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import type { ChainEvent } from '../../protocol/chainEvent.js'

/**
 * Checks that deposit counts continue from one window of backfill to the next, before the first one is stored: a deposit that is
 * missing at the end of `range` shows in `next`, and nothing has to be taken back.
 * @param deposits number of deposits stored before `range`.
 * @throws ChainDataError `deposit_count_gap`
 */
export function assertContinues(deposits: number, range: FetchedRange, next: FetchedRange): void {
  const last = lastCount(range)
  // After BackwardLET or ForwardLET the writer checks the counts.
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

/** The last event that determines the number of deposits. */
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
