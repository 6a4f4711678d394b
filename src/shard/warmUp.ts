import type { ShardReaders } from './reader.js'

/**
 * Makes the sets of what is sent, claimed and ready between the networks served, which the first question about them would
 * wait for otherwise. Stops between two sets when the time is up: the rest is made when it is asked for.
 * @param budgetMs how long a worker may keep its pool from starting.
 * @returns whether all of them were made.
 */
export function warmUp(shards: ShardReaders, budgetMs: number): boolean {
  const end = performance.now() + budgetMs
  try {
    return shards.withSnapshots(() => {
      for (const sourceNetwork of shards.networkIds)
        for (const destinationNetwork of shards.networkIds) {
          if (performance.now() > end) return false
          const source = shards.find(sourceNetwork)!
          shards.depositSets(source).claimedOn(source, destinationNetwork)
        }
      return true
    })
  } catch {
    // A store that contradicts itself is told by the question that meets it, and the other shards are served.
    return false
  }
}
