import type { ChainClient, ResolvedSender, SenderLog, SenderQuestion } from '../../chain/chainClient.types.js'
import { senderKey } from '../../chain/senderKey.js'
import { PackedClaim, PackedDeposit } from '../../events/packedEvents.js'
import type { ChainEvent, IndexedBlock } from '../../protocol/chainEvent.js'
import type { Clock } from '../../telemetry/clocks.js'

/** One question per transaction with deposits, claims, set claims or ForwardLETs. */
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

/** An endpoint that is far ahead of the one that told the head gives blocks at the tip packed, too. */
function withPlainEvents(blocks: readonly IndexedBlock[]): IndexedBlock[] {
  const plain = (event: ChainEvent): ChainEvent =>
    event instanceof PackedDeposit || event instanceof PackedClaim ? event.toPlain() : event
  return blocks.map(({ header, events }) => ({ header, events: events.map(plain) }))
}

/** The blocks with their senders; an event without an answer keeps none, and the sender pass asks for it again. */
function withSenders(
  blocks: readonly IndexedBlock[],
  answers: ReadonlyMap<string, ResolvedSender>,
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

/** What one wait for senders may cost at the tip. */
export interface SenderBudget {
  readonly clock: Pick<Clock, 'sleep'>
  readonly ms: number
}

/** Share of the budget for traces: a call without a trace by then gets tx.from, and is corrected later. */
const TRACE_SHARE = 0.75

/**
 * Senders of blocks at the tip, before they are committed. When the transactions themselves take longer than the budget or
 * fail, the blocks go on without: readers see null, never a guess, and the sender pass asks again.
 */
export async function resolveBeforeCommit(
  client: Pick<ChainClient, 'resolveSenders'>,
  given: readonly IndexedBlock[],
  budget: SenderBudget,
  signal: AbortSignal,
): Promise<readonly IndexedBlock[]> {
  const blocks = withPlainEvents(given)
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
    // Whatever it was, the sender pass meets it again and tells of it.
    return blocks
  } finally {
    answered.abort()
  }
}
