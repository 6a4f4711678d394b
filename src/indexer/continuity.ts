import type { FetchedRange } from '../chain/chainClient.types.js'
import { ChainDataError } from '../errors/chainDataError.js'
import type { ChainEvent } from '../protocol/chainEvent.js'

/**
 * Two windows of history that follow each other, before the first is stored: a deposit that is missing at the end of one
 * shows at the start of the next, while nothing has to be taken back.
 * @param deposits number of deposits that are stored before `range`.
 * @throws ChainDataError `deposit_count_gap`
 */
export function assertContinues(deposits: number, range: FetchedRange, next: FetchedRange): void {
  let expected = deposits
  for (const event of eventsOf(range)) {
    // A cut or regrown tree: what counts then is the store's business.
    if (event.type === 'backwardLet' || event.type === 'forwardLet') return
    if (event.type === 'deposit') expected = event.depositCount + 1
  }
  for (const event of eventsOf(next)) {
    if (event.type === 'backwardLet' || event.type === 'forwardLet') return
    if (event.type !== 'deposit') continue
    if (event.depositCount === expected) return
    throw new ChainDataError(
      'deposit_count_gap',
      `deposit count ${event.depositCount} in block ${event.blockNumber}, expected ${expected}`,
    )
  }
}

function* eventsOf({ blocks }: FetchedRange): Generator<ChainEvent> {
  for (const { events } of blocks) yield* events
}
