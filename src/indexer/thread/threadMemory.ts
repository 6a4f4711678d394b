import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects all garbage of this thread, which takes some tens of milliseconds. V8 does that only when a thread allocates, so one
 * that comes to rest after a backfill would keep for days what it last used: buffers of answers and packed logs, above all.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // A context that is made now has the function; ours does not.
  const collect: unknown = runInNewContext('globalThis.gc')
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
