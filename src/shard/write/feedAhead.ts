import { CommitWatch, type StatusBoardHandle, type StatusRow, statusRow } from '../../board/statusBoard.js'
import type { SnapshotVersion } from '../shardCommand.types.js'

/** Of more that wait, the newest wait for one another. */
const MOST_WAITING = 1_000

interface Waiting {
  /** Sequence of the feed before it. */
  readonly before: number
  madeFrom: readonly SnapshotVersion[]
}

/**
 * Instances of a cluster follow the log of each network by itself. So an event of what can be claimed may come before this instance has what it was
 * worked out from: the deposits of the source, or leaves of the L1. Lists that are read then lack it, and must not name a position behind it.
 */
export class FeedAhead {
  readonly #row: StatusRow
  readonly #rows: ReadonlyMap<number, StatusRow>
  readonly #commits: CommitWatch
  readonly #waiting: Waiting[] = []
  #stop: (() => void) | undefined

  constructor(status: StatusBoardHandle, networkId: number) {
    this.#row = statusRow(status, networkId)
    const others = status.networkIds.filter((id) => id !== networkId)
    this.#rows = new Map(others.map((id) => [id, statusRow(status, id)]))
    this.#commits = new CommitWatch(status)
  }

  /** To be called before the board shows the events that were worked out from these snapshots. */
  told(madeFrom: readonly SnapshotVersion[]): void {
    if (this.#isReached(madeFrom)) return
    if (this.#waiting.length < MOST_WAITING)
      this.#waiting.push({ before: this.#row.get('feedNewest'), madeFrom })
    else this.#waiting.at(-1)!.madeFrom = madeFrom
    this.#look()
  }

  close(): void {
    this.#stop?.()
  }

  #isReached(madeFrom: readonly SnapshotVersion[]): boolean {
    return madeFrom.every(({ networkId, commits }) => {
      const row = this.#rows.get(networkId)
      return row === undefined || (row.get('publishedCommit') ?? 0) >= commits
    })
  }

  #look(): void {
    this.#stop?.()
    const seen = this.#commits.count()
    while (this.#waiting.length > 0 && this.#isReached(this.#waiting[0]!.madeFrom)) this.#waiting.shift()
    const before = this.#waiting[0]?.before
    if (this.#row.get('feedAhead') !== before) {
      this.#row.set('feedAhead', before)
      this.#row.announceFeed()
    }
    this.#stop = before === undefined ? undefined : this.#commits.onCommit(seen, () => this.#look())
  }
}
