import type { ConsumerMessages, JsMsg, OrderedConsumerOptions } from '@nats-io/jetstream'
import { ClusterUnavailableError } from '../clusterFaults.js'
import type { NatsLink } from './natsLink.js'

/** Messages that are on their way or wait for the reader: with parts of 512 KB these are 32 MB at most. */
const MESSAGES_AHEAD = 64
/** A consumer that is silent for two of these is made anew. */
const HEARTBEAT_MS = 1_000
const NANOSECONDS = 1_000_000
/** The servers forget a consumer of ours that nobody reads from any more. */
const FORGET_MS = 30_000

/** What the library would mend by itself at some time. It is simpler, and sooner, to begin anew after the last message that was read. */
const TROUBLE: readonly string[] = [
  'heartbeats_missed',
  'consumer_not_found',
  'stream_not_found',
  'consumer_deleted',
  'no_responders',
  'reset',
]

interface FollowedMessage {
  readonly message: JsMsg
  /** Stored before the consumer was made. */
  readonly isOld: boolean
}

/**
 * Messages of a stream in order, first the old ones that `options` select, then each new one. Ends when the signal is aborted.
 * @throws ClusterUnavailableError as soon as anything is amiss.
 */
export async function* followStream(
  link: NatsLink,
  what: string,
  stream: string,
  options: Partial<OrderedConsumerOptions>,
  signal: AbortSignal,
): AsyncGenerator<FollowedMessage, void> {
  const consumer = await link.ask(what, signal, ({ js }) =>
    js.consumers.get(stream, { ...options, inactive_threshold: FORGET_MS * NANOSECONDS }),
  )
  let old = (await consumer.info(true)).num_pending
  const messages = await consumer.consume({ max_messages: MESSAGES_AHEAD, idle_heartbeat: HEARTBEAT_MS })
  let trouble = 'the connection was lost'
  // Never awaited: its promise waits for the loop below to go on, which has been left when it is called.
  const stop = (): void => void messages.close()
  signal.addEventListener('abort', stop, { once: true })
  void stopAtTrouble(messages, (type) => {
    trouble = type
    stop()
  })
  try {
    if (signal.aborted) return
    for await (const message of messages) {
      yield { message, isOld: old > 0 }
      if (old > 0) old--
      if (signal.aborted) return
    }
    if (!signal.aborted) throw new ClusterUnavailableError(`${what}: reading has stopped (${trouble})`)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
    void consumer.delete().catch(() => undefined)
  }
}

async function stopAtTrouble(messages: ConsumerMessages, stop: (type: string) => void): Promise<void> {
  for await (const { type } of messages.status()) if (TROUBLE.includes(type)) stop(type)
}
