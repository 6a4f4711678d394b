import type { SyncLoopOptions } from '../../src/indexer/sync/syncLoop.js'
import type { VirtualClock } from './virtualClock.js'

type Commits = SyncLoopOptions['commits']

/** No other network stores anything. */
export const noCommits: Commits = { count: () => 0, onCommit: () => () => undefined }

/** As often as networks at rest compare claims. */
const COMMIT_EVERY_MS = 200

/** In virtual time others commit again and again, so that what a test changes of them is soon looked at. */
export function steadyCommits(clock: VirtualClock): Commits {
  return {
    count: () => 0,
    onCommit: (_, wake) => {
      let isWanted = true
      clock.after(COMMIT_EVERY_MS, () => {
        if (isWanted) wake()
      })
      return () => {
        isWanted = false
      }
    },
  }
}
