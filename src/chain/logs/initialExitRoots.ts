import { FatalError } from '../../errors/chainErrors.js'
import { eventTopics } from '../../events/eventTopics.js'
import type { BlockEvent, RollupAddedEvent } from '../../protocol/chainEvent.js'
import { decodeHexAt } from '../../protocol/hex.js'
import { asBlockNumber } from '../../protocol/units.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { RpcLog } from '../rpc/rpcLogs.js'
import { contractAnswer, contractCall } from '../state/contractCall.js'
import type { ContractStates } from '../state/contractStates.js'

/** rollupIDToRollupDataV2(uint32) of v9 and later, rollupIDToRollupData(uint32) before. The root is the fifth word of both. */
const ROLLUP_DATA_SELECTORS = ['0x74d9c244', '0xf9c4c2ae']
const LAST_LOCAL_EXIT_ROOT_AT = 2 + 4 * 64

const existingTopics: readonly string[] = [
  eventTopics.AddExistingRollupV4,
  eventTopics.AddExistingRollupV9,
  eventTopics.AddExistingRollup,
]

/**
 * Adds to the events of one block the local exit root that AddExistingRollup may set without an event: it enters the rollup exit
 * tree at the next settlement of any rollup. It is read from the rollup manager at the event's block.
 * @param states asks for the root. @param endpoint had the logs, and is asked first.
 * @throws FatalError `pruned_history` when no endpoint has that block's state any more; RetryableError.
 */
export async function withInitialExitRoots(
  events: readonly BlockEvent[],
  logs: readonly RpcLog[],
  rollupManager: string,
  states: Pick<ContractStates, 'need'>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<readonly BlockEvent[]> {
  const complete: BlockEvent[] = []
  for (const event of events) {
    const log = event.type === 'rollupAdded' && logs.find(({ logIndex }) => logIndex === event.logIndex)
    if (!log || !existingTopics.includes(log.topics[0]?.toLowerCase() ?? '')) complete.push(event)
    else {
      const initialLocalExitRoot = await readLastExitRoot(event, log, rollupManager, states, endpoint, signal)
      complete.push({ ...event, initialLocalExitRoot })
    }
  }
  return complete
}

async function readLastExitRoot(
  event: RollupAddedEvent,
  log: RpcLog,
  rollupManager: string,
  states: Pick<ContractStates, 'need'>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const argument = event.networkId.toString(16).padStart(64, '0')
  const ask = (asked: Endpoint) => askLastExitRoot(argument, log, rollupManager, asked, signal)
  try {
    return (await states.need(ask, signal, { preferred: endpoint })) ?? event.initialLocalExitRoot
  } catch (error) {
    const isGone = error instanceof FatalError && error.reason === 'pruned_history'
    // Managers before v9 had no way to set one.
    if (isGone && log.topics[0]?.toLowerCase() === eventTopics.AddExistingRollupV4) return new Uint8Array(32)
    throw error
  }
}

/**
 * The block before is asked for, too. There the rollup does not exist yet: an endpoint that answers both blocks with one exit
 * root answers with the state of another block.
 * @returns undefined when the manager has no such getter. @throws RpcFailure
 */
async function askLastExitRoot(
  argument: string,
  { blockNumber }: RpcLog,
  rollupManager: string,
  asked: Endpoint,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  for (const selector of ROLLUP_DATA_SELECTORS) {
    const calls = [blockNumber, blockNumber - 1].map((block) =>
      contractCall(rollupManager, `${selector}${argument}`, asBlockNumber(block)),
    )
    const [outcome, before] = await asked.callAll(calls, signal)
    const answer = contractAnswer(outcome!)
    const root = answer === undefined ? undefined : decodeHexAt(answer, LAST_LOCAL_EXIT_ROOT_AT, 32)
    if (root === undefined) continue
    const isMisleading = before!.ok && before!.result === answer && root.some((byte) => byte !== 0)
    if (!isMisleading) return root
    asked.state.misled()
    throw new RpcFailure(
      'gone',
      `${asked.alias}: answers with the state of another block than ${blockNumber}`,
    )
  }
  return undefined
}
