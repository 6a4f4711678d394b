import type { NetworkId } from '../../protocol/units.js'
import type { ShardReaders } from './shardReaders.js'

/**
 * Makes what the first questions would wait for otherwise: how deposits come to be claimable, which nearly every answer needs,
 * then the sets of what is sent and claimed between the networks served. Stops between two steps when the time is up: the rest
 * is made when it is asked for. Of ten million bridges to three networks the first part takes 1.3 s of CPU time, the longest
 * step 0.5 s, all of it 3 s.
 * @param budgetMs how long a worker may keep its pool from starting with sets.
 * @returns whether all of it was made.
 */
export function warmUp(shards: ShardReaders, budgetMs: number): boolean {
  try {
    return shards.withSnapshots(() => {
      for (const [source, destination] of pairs(shards))
        shards.claimFacts.path(shards.find(source)!, destination)
      const end = performance.now() + budgetMs
      for (const networkId of shards.networkIds) {
        const source = shards.find(networkId)!
        if (performance.now() > end) return false
        if (source.state.doTimesFall) shards.depositTimes(source).update(source)
      }
      for (const [sourceNetwork, destination] of pairs(shards)) {
        const source = shards.find(sourceNetwork)!
        const sets = shards.depositSets(source)
        if (performance.now() > end) return false
        sets.sentTo(source, destination)
        if (performance.now() > end) return false
        sets.claimedOn(source, destination)
      }
      return true
    })
  } catch {
    // A store that contradicts itself is told by the question that meets it, and the other shards are served.
    return false
  }
}

function pairs({ networkIds }: ShardReaders): [source: NetworkId, destination: NetworkId][] {
  return networkIds.flatMap((source) =>
    networkIds.map((destination): [NetworkId, NetworkId] => [source, destination]),
  )
}
