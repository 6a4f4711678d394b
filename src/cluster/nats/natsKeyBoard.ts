import { DeliverPolicy, StorageType } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import {
  asRevision,
  type KeyBoard,
  type KeyEntry,
  type Revision,
  type WatchedEntry,
  type WriteOutcome,
} from '../keyBoard.js'
import { followStream } from './followStream.js'
import { apiCodeOf, apiCodes } from './natsFaults.js'
import type { NatsLink, NatsSession } from './natsLink.js'
import { assertSettings } from './streamSettings.js'

/**
 * Opens a bucket, or makes it: one try.
 * @throws ClusterUnavailableError, OperatorError as in `ClusterServers.openKeyBoard`, and the signal's reason.
 */
export async function openNatsKeyBoard(
  link: NatsLink,
  bucket: string,
  replicas: 1 | 3,
  signal: AbortSignal,
): Promise<KeyBoard> {
  const what = `the NATS bucket ${bucket}`
  // Only the leader answers: other servers may be behind.
  const settings = { history: 1, replicas, storage: StorageType.File, allow_direct: false }
  await link.ask(what, signal, async ({ js }) => {
    const kv = await new Kvm(js).create(bucket, settings)
    const { streamInfo } = await kv.status()
    assertSettings(
      {
        num_replicas: replicas,
        storage: StorageType.File,
        max_msgs_per_subject: 1,
        // Server 2.9 may leave expired keys on some replicas (nats-server issue 3653), so nothing here relies on it.
        max_age: 0,
        allow_direct: false,
      },
      streamInfo,
    )
  })
  return new NatsKeyBoard(link, what, bucket)
}

class NatsKeyBoard implements KeyBoard {
  private readonly link: NatsLink
  private readonly what: string
  private readonly bucket: string

  constructor(link: NatsLink, what: string, bucket: string) {
    this.link = link
    this.what = what
    this.bucket = bucket
  }

  async find(key: string, signal: AbortSignal): Promise<KeyEntry | undefined> {
    const entry = await this.link.ask(this.what, signal, async (session) => (await this.kv(session)).get(key))
    return entry === null ? undefined : { key, value: entry.string(), revision: asRevision(entry.revision) }
  }

  write(key: string, value: string, expected: Revision, signal: AbortSignal): Promise<WriteOutcome> {
    return this.link.ask(this.what, signal, async (session) => {
      try {
        const revision = await (await this.kv(session)).put(key, value, { previousSeq: expected })
        return { type: 'written', revision: asRevision(revision) }
      } catch (error) {
        if (apiCodeOf(error) === apiCodes.wrongLastSequence) return { type: 'changed' }
        throw error
      }
    })
  }

  async *watch(signal: AbortSignal): AsyncGenerator<WatchedEntry, void> {
    const options = { deliver_policy: DeliverPolicy.LastPerSubject }
    const following = followStream(this.link, this.what, `KV_${this.bucket}`, options, signal)
    for await (const { message, isOld } of following)
      yield {
        key: message.subject.slice(message.subject.lastIndexOf('.') + 1),
        value: message.string(),
        revision: asRevision(message.seq),
        isNews: !isOld,
      }
  }

  /** Asks nothing. */
  private kv({ js }: NatsSession): Promise<KV> {
    return new Kvm(js).open(this.bucket, { allow_direct: false })
  }
}
