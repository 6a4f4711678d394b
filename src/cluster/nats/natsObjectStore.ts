import { StorageType } from '@nats-io/jetstream'
import { type ObjectStore as NatsBucket, Objm, setSha256Backend } from '@nats-io/obj'
import { ClusterUnavailableError } from '../clusterFaults.js'
import type { ObjectStore } from '../objectStore.js'
import type { NatsLink, NatsSession } from './natsLink.js'
import { assertSettings } from './streamSettings.js'

// Its default is written in JavaScript, for browsers.
setSha256Backend('native')

/** For some megabytes, which the servers also write to their disks. The library waits for ever for what was lost from the middle. */
const TRANSFER_MS = 60_000

/**
 * Opens a bucket of objects, or makes it: one try.
 * @throws ClusterUnavailableError, OperatorError as in `ClusterServers.openObjectStore`, and the signal's reason.
 */
export async function openNatsObjectStore(
  link: NatsLink,
  bucket: string,
  replicas: 1 | 3,
  signal: AbortSignal,
): Promise<ObjectStore> {
  const what = `the NATS object store ${bucket}`
  await link.ask(what, signal, async ({ js }) => {
    const store = await new Objm(js).create(bucket, { replicas, storage: StorageType.File })
    const { streamInfo } = await store.status()
    assertSettings({ num_replicas: replicas, storage: StorageType.File }, streamInfo)
  })
  return new NatsObjectStore(link, what, bucket)
}

class NatsObjectStore implements ObjectStore {
  private readonly link: NatsLink
  private readonly what: string
  private readonly bucket: string

  constructor(link: NatsLink, what: string, bucket: string) {
    this.link = link
    this.what = what
    this.bucket = bucket
  }

  async put(name: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.ask(signal, (bucket) => bucket.putBlob({ name }, bytes))
  }

  async find(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    return (await this.ask(signal, (bucket) => bucket.getBlob(name))) ?? undefined
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.ask(signal, (bucket) => bucket.delete(name))
  }

  async names(signal: AbortSignal): Promise<string[]> {
    const found = await this.ask(signal, (bucket) => bucket.list())
    return found.map(({ name }) => name)
  }

  private async ask<T>(signal: AbortSignal, request: (bucket: NatsBucket) => Promise<T>): Promise<T> {
    const limit = AbortSignal.timeout(TRANSFER_MS)
    const open = ({ js }: NatsSession): Promise<NatsBucket> => new Objm(js).open(this.bucket, false)
    try {
      return await this.link.ask(this.what, AbortSignal.any([signal, limit]), async (session) =>
        request(await open(session)),
      )
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!limit.aborted) throw error
      throw new ClusterUnavailableError(`${this.what}: no answer within ${TRANSFER_MS / 1000} s`)
    }
  }
}
