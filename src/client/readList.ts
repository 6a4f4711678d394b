import type { CallOptions, ClientClock } from './call.types.js'
import { BridgeApiError, BridgeRestartError } from './clientErrors.js'
import { waitAfter } from './waits.js'
import type { Pagination } from './wireDefinition.js'

/** A list begins again: a reorg has replaced rows of it. */
export interface ListRestart {
  /** 1 for the first time. */
  readonly restarts: number
  /** Rows given since the last start. All of them are void: those that are still in the list come again. */
  readonly given: number
  /** What the service said of the cursor. */
  readonly error: BridgeApiError
}

export interface ListOptions extends CallOptions {
  /**
   * Called before the first row is given again, and awaited. Drop there what was made of the rows so far, or do nothing if a row may come twice.
   * Without it the iterator throws BridgeRestartError, so that no row is doubled unnoticed.
   */
  readonly onRestart?: ((restart: ListRestart) => void | Promise<void>) | undefined
  /** Most times that the list may begin again. Default: 10. */
  readonly maxRestarts?: number | undefined
}

export interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly pagination: Pagination
}

/** @param cursor of the page before, undefined for the first page. */
type AskPage<Row> = (cursor: string | undefined) => Promise<ListPage<Row>>

/** Every row of a list, page by page. A page is asked for when its first row is wanted. */
export async function* readList<Row>(
  askPage: AskPage<Row>,
  clock: ClientClock,
  { onRestart, maxRestarts = 10, signal }: ListOptions = {},
): AsyncGenerator<Row, void, undefined> {
  let cursor: string | undefined
  let given = 0
  let restarts = 0
  for (;;) {
    let page: ListPage<Row>
    try {
      page = await askPage(cursor)
    } catch (error) {
      // The same filters were good on the first page: what is refused is the cursor. If it is not, the first page will say so.
      const isOutdated =
        cursor !== undefined && error instanceof BridgeApiError && error.code === 'INVALID_PARAMETER'
      if (!isOutdated) throw error
      if (onRestart === undefined || restarts >= maxRestarts)
        throw new BridgeRestartError(`the list was replaced by a reorg after ${given} rows`, given, error)
      restarts += 1
      await onRestart({ restarts, given, error })
      await clock.sleep(waitAfter(restarts, clock), signal)
      cursor = undefined
      given = 0
      continue
    }
    for (const row of page.rows) {
      signal?.throwIfAborted()
      given += 1
      yield row
    }
    if (page.pagination.nextCursor === null) return
    cursor = page.pagination.nextCursor
  }
}
