import type { ChainClient, SenderAnswer, SenderLog, SenderQuestion } from '../../chain/chainClient.types.js'
import { senderKey } from '../../chain/senderKey.js'
import { plainBlocks } from '../../events/rowsOfLogs.js'
import type { BlockEvent, ChainEvent, IndexedBlock } from '../../protocol/chainEvent.js'
import type { Clock } from '../../telemetry/clocks.js'

/** One question for each transaction with deposits, claims, set claims or ForwardLETs. */
function senderQuestions(blocks: readonly IndexedBlock[]): SenderQuestion[] {
  const byTransaction = new Map<string, SenderQuestion & { readonly logs: SenderLog[] }>()
  for (const { events } of blocks)
    for (const event of events) {
      const log = senderLog(event)
      if (log === undefined) continue
      const key = senderKey(event.transactionHash, 0)
      const { transactionHash, blockNumber } = event
      const question = byTransaction.get(key) ?? { transactionHash, blockNumber, logs: [] }
      question.logs.push(log)
      byTransaction.set(key, question)
    }
  return [...byTransaction.values()]
}

function senderLog(event: ChainEvent): SenderLog | undefined {
  switch (event.type) {
    case 'deposit':
    case 'claim':
    case 'claimSet':
    case 'forwardLet':
      return { kind: event.type, ...event }
    default:
      return undefined
  }
}

/** The blocks with senders. An event without an answer stays without: the sender pass asks again. */
function withSenders(
  blocks: readonly IndexedBlock[],
  answers: ReadonlyMap<string, SenderAnswer>,
): IndexedBlock[] {
  return blocks.map(({ header, events }) => ({
    header,
    events: events.map((event) => {
      if (senderLog(event) === undefined) return event
      const answer = answers.get(senderKey(event.transactionHash, event.logIndex))
      return answer === undefined ? event : { ...event, sender: answer }
    }),
  }))
}

/** How long a commit at the tip may wait for senders. */
export interface SenderBudget {
  readonly clock: Pick<Clock, 'sleep'>
  readonly ms: number
}

/** The share of the budget for traces. A caller without a trace by then is tx.from, and is corrected later. */
const TRACE_SHARE = 0.75

/**
 * Finds the senders of blocks at the tip before they are committed. If the transactions can't be read within the budget, the
 * blocks are committed without senders: readers see null, never a guess, and the sender pass asks again.
 */
export async function resolveBeforeCommit(
  client: Pick<ChainClient, 'resolveSenders'>,
  given: readonly IndexedBlock<BlockEvent>[],
  budget: SenderBudget,
  signal: AbortSignal,
): Promise<readonly IndexedBlock[]> {
  // Rows occur at the tip, too: when another endpoint, far ahead of the head, answered the logs.
  const blocks = plainBlocks(given)
  const questions = senderQuestions(blocks)
  if (questions.length === 0) return blocks
  const answered = new AbortController()
  const spent = new AbortController()
  budget.clock.sleep(budget.ms, AbortSignal.any([signal, answered.signal])).then(
    () => spent.abort(),
    () => undefined,
  )
  try {
    const traceMs = TRACE_SHARE * budget.ms
    const answers = await client.resolveSenders(questions, AbortSignal.any([signal, spent.signal]), {
      totalMs: traceMs,
      eachMs: traceMs,
    })
    return withSenders(blocks, answers)
  } catch {
    signal.throwIfAborted()
    // The sender pass meets the failure again, and reports it.
    return blocks
  } finally {
    answered.abort()
  }
}
