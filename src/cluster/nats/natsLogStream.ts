import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import type { NetworkId } from '../../protocol/units.js'
import { ClusterUnavailableError } from '../clusterFaults.js'
import {
  asLogSequence,
  type LogBounds,
  type LogEntry,
  type LogMessage,
  type LogSequence,
  type LogStream,
  type PublishOutcome,
} from '../logStream.js'
import { followStream } from './followStream.js'
import { apiCodeOf, apiCodes } from './natsFaults.js'
import type { NatsLink } from './natsLink.js'
import { assertSettings, type StreamSettings } from './streamSettings.js'

const ID_HEADER = 'Nats-Msg-Id'

/**
 * The servers' shortest. They drop a message whose id they have seen in this time, before they look at the expected sequence. That sequence
 * alone keeps a message from being stored twice, so their memory of ids could only contradict it.
 */
const DUPLICATE_WINDOW_NS = 100_000_000

export interface LogSettings {
  /** Begins the names of streams, subjects and buckets: several services may share the servers. */
  readonly prefix: string
  readonly replicas: 1 | 3
  /** A log that would get larger refuses new messages. */
  readonly maxLogBytes: number
}

/**
 * Opens the stream of one network, or makes it: one try.
 * @throws ClusterUnavailableError, OperatorError as in `ClusterServers.openLogStream`, and the signal's reason.
 */
export async function openNatsLogStream(
  link: NatsLink,
  networkId: NetworkId,
  settings: LogSettings,
  signal: AbortSignal,
): Promise<LogStream> {
  const what = `the log of network ${networkId}`
  const wanted = streamSettings(networkId, settings)
  const info = await link.ask(what, signal, ({ jsm }) =>
    jsm.streams.info(wanted.name).catch((error: unknown) => {
      if (apiCodeOf(error) !== apiCodes.streamNotFound) throw error
      // Another instance may make it at the same moment: that is a success if its settings are the same, and a fault otherwise, so that the next try compares them.
      return jsm.streams.add(wanted)
    }),
  )
  assertSettings(wanted, info)
  return new NatsLogStream(link, what, wanted)
}

function streamSettings(
  networkId: NetworkId,
  { prefix, replicas, maxLogBytes }: LogSettings,
): StreamSettings {
  return {
    name: `${prefix}-log-${networkId}`,
    subjects: [`${prefix}.log.${networkId}`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    num_replicas: replicas,
    // Never the oldest: somebody may still have to apply it.
    discard: DiscardPolicy.New,
    max_bytes: maxLogBytes,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_age: 0,
    duplicate_window: DUPLICATE_WINDOW_NS,
    deny_delete: true,
    allow_rollup_hdrs: false,
  }
}

class NatsLogStream implements LogStream {
  private readonly link: NatsLink
  private readonly what: string
  private readonly stream: string
  private readonly subject: string

  constructor(link: NatsLink, what: string, { name, subjects }: StreamSettings) {
    this.link = link
    this.what = what
    this.stream = name
    this.subject = subjects[0]!
  }

  publish(message: LogMessage, after: LogSequence, signal: AbortSignal): Promise<PublishOutcome> {
    return this.link.ask(this.what, signal, async ({ js }) => {
      try {
        const { seq, duplicate } = await js.publish(this.subject, message.payload, {
          msgID: message.id,
          expect: { lastSequence: after, streamName: this.stream },
        })
        // A duplicate in its right place is the copy whose acknowledgement was lost.
        if (seq === after + 1) return 'stored'
        throw new ClusterUnavailableError(
          `${this.what}: ${message.id} was to be ${after + 1} and is said to be ${seq}${duplicate ? ' already' : ''}`,
        )
      } catch (error) {
        const code = apiCodeOf(error)
        if (code === apiCodes.wrongLastSequence) return 'not_next'
        if (code === apiCodes.maximumBytesExceeded) return 'full'
        throw error
      }
    })
  }

  async findEntry(sequence: LogSequence, signal: AbortSignal): Promise<LogEntry | undefined> {
    const stored = await this.link.ask(this.what, signal, ({ jsm }) =>
      jsm.streams.getMessage(this.stream, { seq: sequence }),
    )
    if (stored === null) return undefined
    return { sequence, id: stored.header.get(ID_HEADER), payload: stored.data }
  }

  async bounds(signal: AbortSignal): Promise<LogBounds> {
    const { state } = await this.link.ask(this.what, signal, ({ jsm }) => jsm.streams.info(this.stream))
    const first = state.messages === 0 ? state.last_seq + 1 : state.first_seq
    return { first: asLogSequence(first), last: asLogSequence(state.last_seq) }
  }

  async usedBytes(signal: AbortSignal): Promise<number> {
    const { state } = await this.link.ask(this.what, signal, ({ jsm }) => jsm.streams.info(this.stream))
    return state.bytes
  }

  async forget(upTo: LogSequence, signal: AbortSignal): Promise<void> {
    // The first one that stays.
    await this.link.ask(this.what, signal, ({ jsm }) => jsm.streams.purge(this.stream, { seq: upTo + 1 }))
  }

  async *follow(after: LogSequence, signal: AbortSignal): AsyncGenerator<LogEntry, void> {
    const options = { opt_start_seq: after + 1 }
    for await (const { message } of followStream(this.link, this.what, this.stream, options, signal))
      yield {
        sequence: asLogSequence(message.seq),
        id: message.headers?.get(ID_HEADER) ?? '',
        payload: message.data,
      }
  }
}
