import assert from 'node:assert/strict'
import type { ChainClient } from '../../src/chain/chainClient.types.js'
import { createChainClient } from '../../src/chain/client/chainClient.js'
import type { NetworkConfig } from '../../src/config/config.types.js'
import { RetryableError } from '../../src/errors/chainErrors.js'
import { plainBlocks } from '../../src/events/rowsOfLogs.js'
import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import { createKeepingLogger } from '../support/keepingLogger.js'
import { VirtualClock } from '../support/virtualClock.js'
import type { Replay } from './replayServer.js'

const { signal } = new AbortController()

/** A client whose clock jumps over every wait. */
export function openClient(network: NetworkConfig) {
  const clock = new VirtualClock()
  const { logger, lines } = createKeepingLogger()
  return { client: createChainClient({ network, logger, clock }), clock, lines }
}

/** Reads [0, head] as a sync loop does: again after a RetryableError, and from the end of a range that ended early. */
export async function readAll(client: ChainClient, head: number): Promise<IndexedBlock[]> {
  const blocks: IndexedBlock[] = []
  let retries = 0
  for (let from = 0; from <= head; ) {
    try {
      const range = await client.fetchRange(asBlockNumber(from), asBlockNumber(head), signal)
      assert.equal(range.fromBlock, from)
      for (const block of plainBlocks(range.blocks)) blocks.push(block)
      from = range.head.number + 1
    } catch (error) {
      if (!(error instanceof RetryableError) || ++retries > 60) throw error
    }
  }
  return blocks
}

/** Head of a network as recorded. */
export function headOf(from: Replay, networkId: number): number {
  return from.set.expected.networks[networkId]!.head
}
