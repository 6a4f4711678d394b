import type { ChainEvent, RollupAddedEvent } from '../protocol/chainEvent.js'
import { eventTopics } from '../protocol/eventTopics.js'
import { decodeHexAt } from '../protocol/hex.js'
import { readContract } from './contractCall.js'
import type { Endpoint } from './endpoint.js'
import { isHistoryGone, RpcFailure } from './rpcFailure.js'
import type { RpcLog } from './rpcLogs.js'

/** rollupIDToRollupDataV2(uint32) of v9 and later; rollupIDToRollupData(uint32) before. Both: fifth word. */
const ROLLUP_DATA_SELECTORS = ['0x74d9c244', '0xf9c4c2ae']
const LAST_LOCAL_EXIT_ROOT_AT = 2 + 4 * 64

const existingTopics: readonly string[] = [
  eventTopics.AddExistingRollupV4,
  eventTopics.AddExistingRollupV9,
  eventTopics.AddExistingRollup,
]

/**
 * Events of one block with the local exit root that AddExistingRollup may set without saying so: it enters the rollup
 * exit tree at the next settlement of any rollup. Read from the manager as of the event's block.
 * @throws RpcFailure; `gone` when that block's state is.
 */
export async function withInitialExitRoots(
  events: readonly ChainEvent[],
  logs: readonly RpcLog[],
  rollupManager: string,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<readonly ChainEvent[]> {
  const complete: ChainEvent[] = []
  for (const event of events) {
    const log = logs.find(({ logIndex }) => logIndex === event.logIndex)
    const topic = log?.topics[0]?.toLowerCase() ?? ''
    if (event.type !== 'rollupAdded' || log === undefined || !existingTopics.includes(topic))
      complete.push(event)
    else {
      const initialLocalExitRoot = await readLastExitRoot(event, log, rollupManager, endpoint, signal)
      complete.push({ ...event, initialLocalExitRoot })
    }
  }
  return complete
}

async function readLastExitRoot(
  event: RollupAddedEvent,
  log: RpcLog,
  rollupManager: string,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const argument = event.networkId.toString(16).padStart(64, '0')
  for (const selector of ROLLUP_DATA_SELECTORS) {
    try {
      const answer = await readContract(
        rollupManager,
        `${selector}${argument}`,
        log.blockNumber,
        endpoint,
        signal,
      )
      if (answer === undefined) continue
      const root = decodeHexAt(answer, LAST_LOCAL_EXIT_ROOT_AT, 32)
      if (root !== undefined) return root
    } catch (error) {
      if (!(error instanceof RpcFailure) || !isHistoryGone(error)) throw error
      // Managers before v9 had no way to set one.
      if (log.topics[0]?.toLowerCase() === eventTopics.AddExistingRollupV4) return new Uint8Array(32)
      throw new RpcFailure(
        'gone',
        `${endpoint.alias}: the state of block ${log.blockNumber}, which has the first exit root of rollup ${event.networkId}, is no longer kept`,
      )
    }
  }
  return event.initialLocalExitRoot
}
