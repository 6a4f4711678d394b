import { CommitWatch, type StatusBoardHandle, type StatusRow, statusRow } from '../../board/statusBoard.js'
import type { QueryReply } from '../../pool/batchMessages.js'
import { Others } from '../../pool/others.js'
import type { QueryPool } from '../../pool/queryPool.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import { type Failure, failure } from '../../query/answers.js'
import type { Logger } from '../../telemetry/logger.js'
import { type EventFilter, ToldEvent } from './eventFilter.js'
import { type FeedPosition, type FeedPositions, positionText, readExtent } from './feedPositions.js'
import { KeyedReaders } from './keyedReaders.js'

/** Events that are asked of a query thread at once. */
const PAGE_EVENTS = 128
/** A reader is told where it is this often, also when nothing happens for it. */
const PING_EVERY_SEC = 15
/** Time until a page is asked for again that no query thread could give. */
const RETRY_MS = 250
/** After a page of the past nobody reads on for so many times as long as it took this thread, while it has other requests: a quarter of its time goes there. */
const PAST_REST = 3

/** A connection that takes events. */
export interface EventReader {
  readonly filter: EventFilter
  /** @param ids where the reader is behind this event. */
  send(event: ToldEvent, ids: string): void
  /** Shows that the connection lives, and where the reader is. */
  ping(ids: string): void
  /** Whether it has not taken all that it was sent: more of the past waits for that. */
  isBehind(): boolean
  /** Ends the connection: its reader may come again. */
  end(): void
}

export interface EventHubOptions {
  readonly status: StatusBoardHandle
  readonly pool: Pick<QueryPool, 'submit'>
  readonly logger: Logger
  /** How many requests this thread has answered. */
  countAnswers(): number
}

/** One network's feed, as far as all have it who are not reading on from an older place. */
interface Feed {
  readonly networkId: NetworkId
  readonly row: StatusRow
  readonly readers: Set<Subscription>
  /** Those of `readers` that have all events up to `position`: by key, and those without keys. */
  readonly live: KeyedReaders<Subscription>
  feedId: number
  position: number
  isReading: boolean
}

/** Networks that some readers have in common: where these readers are, once they have all. */
class Group {
  readonly feeds: readonly Feed[]
  readers = 0
  #ids: string | undefined

  constructor(feeds: readonly Feed[]) {
    this.feeds = feeds
  }

  moved(): void {
    this.#ids = undefined
  }

  get ids(): string {
    this.#ids ??= this.feeds
      .map(({ networkId, feedId, position: sequence }) => positionText(networkId, { feedId, sequence }))
      .join(',')
    return this.#ids
  }
}

interface Subscription {
  readonly reader: EventReader
  readonly group: Group
  /** Where it is, while it reads on from older places; undefined once it has what all have. */
  positions: Map<NetworkId, FeedPosition> | undefined
  isReading: boolean
  isEnded: boolean
  /** Second of each `PING_EVERY_SEC` in which it is told where it is. */
  readonly pingAt: number
}

/**
 * Hands the events of all feeds to the connections of one front thread. It is woken by commits, has a query thread read what is new, once
 * for all, and finds those who want it. Who comes with an older place is given the pages from there to here first: one page of one reader at a
 * time, in rotation, since most of it may be for nobody, and there may be thousands of such readers. While nobody reads, nothing is done.
 */
export class EventHub {
  readonly #pool: EventHubOptions['pool']
  readonly #logger: Logger
  readonly #feeds: ReadonlyMap<NetworkId, Feed>
  readonly #watch: CommitWatch
  readonly #groups = new Map<string, Group>()
  readonly #subscriptions = new Map<EventReader, Subscription>()
  /** Those that read on from older places. */
  readonly #late = new Set<Subscription>()
  /** Those of them that wait for a page, in order. */
  readonly #waiting = new Set<Subscription>()
  readonly #others: Others
  #isPastRead = false
  #stopWaiting: (() => void) | undefined
  #pinging: NodeJS.Timeout | undefined
  #seconds = 0
  #isClosed = false

  constructor({ status, pool, logger, countAnswers }: EventHubOptions) {
    this.#pool = pool
    this.#logger = logger
    this.#others = new Others(countAnswers)
    this.#watch = new CommitWatch(status)
    this.#feeds = new Map(
      status.networkIds.map((id) => {
        const networkId = asNetworkId(id)
        const row = statusRow(status, id)
        const live = new KeyedReaders<Subscription>(({ reader }) => reader.filter.keys)
        const feed: Feed = {
          ...{ networkId, row, live, readers: new Set(), isReading: false },
          ...{ feedId: 0, position: 0 },
        }
        return [networkId, feed]
      }),
    )
  }

  get size(): number {
    return this.#subscriptions.size
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /**
   * Where to begin for a reader that comes with `after`.
   * @param after of some of the reader's networks; of the others it gets what comes from now on.
   * @returns a refusal when events behind one of the positions are not there any more, or are others.
   */
  begin({ networkIds }: EventFilter, after: FeedPositions): FeedPositions | Failure {
    const positions = new Map<NetworkId, FeedPosition>()
    for (const networkId of after.keys())
      if (!networkIds.includes(networkId))
        return failure(
          'INVALID_PARAMETER',
          `after has a position of network ${networkId}, which is not asked for`,
        )
    for (const networkId of networkIds) {
      const { feedId, oldest, sequence } = readExtent(this.#feeds.get(networkId)!.row)
      const asked = after.get(networkId) ?? { feedId, sequence }
      const isGone = asked.feedId !== feedId || asked.sequence + 1 < oldest
      if (isGone) {
        const text = (at: number) => positionText(networkId, { feedId, sequence: at })
        const message = `events behind ${positionText(networkId, asked)} are not kept: the oldest is ${text(oldest)}, the current one is ${text(sequence)}; read the lists again`
        return failure('POSITION_GONE', message)
      }
      positions.set(networkId, asked)
    }
    return positions
  }

  /** @param positions what `begin` has returned in the same turn of the event loop. @returns where the reader begins, as text. */
  add(reader: EventReader, positions: FeedPositions): string {
    const { networkIds } = reader.filter
    const feeds = networkIds.map((networkId) => this.#feeds.get(networkId)!)
    for (const feed of feeds) {
      if (feed.readers.size > 0) continue
      const { feedId, sequence } = readExtent(feed.row)
      feed.feedId = feedId
      feed.position = sequence
      for (const group of this.#groups.values()) if (group.feeds.includes(feed)) group.moved()
    }
    const key = networkIds.join()
    const group = this.#groups.get(key) ?? new Group(feeds)
    this.#groups.set(key, group)
    group.readers++
    const subscription: Subscription = {
      ...{ reader, group, positions: new Map(positions), isReading: false, isEnded: false },
      pingAt: this.#subscriptions.size % PING_EVERY_SEC,
    }
    this.#subscriptions.set(reader, subscription)
    for (const feed of feeds) feed.readers.add(subscription)
    this.#late.add(subscription)
    const ids = idsOf(subscription)
    this.#catchUp(subscription)
    this.#start()
    return ids
  }

  /** The connection has ended. */
  remove(reader: EventReader): void {
    const subscription = this.#subscriptions.get(reader)
    if (subscription === undefined) return
    subscription.isEnded = true
    this.#subscriptions.delete(reader)
    this.#late.delete(subscription)
    this.#waiting.delete(subscription)
    const { group } = subscription
    for (const feed of group.feeds) {
      feed.readers.delete(subscription)
      feed.live.delete(subscription)
    }
    group.readers--
    if (group.readers === 0) this.#groups.delete(reader.filter.networkIds.join())
    if (this.#subscriptions.size === 0) this.#stop()
  }

  /** The reader has taken what it was sent. */
  drained(reader: EventReader): void {
    const subscription = this.#subscriptions.get(reader)
    if (subscription?.positions !== undefined) this.#catchUp(subscription)
  }

  /** Ends all connections, and takes none from now on. */
  close(): void {
    this.#isClosed = true
    this.#endAll([...this.#subscriptions.values()])
    this.#stop()
  }

  #start(): void {
    if (this.#pinging !== undefined) return
    this.#pinging = setInterval(() => this.#pingSome(), 1_000).unref()
    this.#wait()
  }

  #stop(): void {
    clearInterval(this.#pinging)
    this.#pinging = undefined
    this.#stopWaiting?.()
    this.#stopWaiting = undefined
  }

  /** Looks now, and after each commit. */
  #wait(): void {
    const seen = this.#watch.count()
    this.#look()
    this.#stopWaiting = this.#watch.onCommit(seen, () => {
      if (this.#pinging !== undefined) this.#wait()
    })
  }

  #look(): void {
    for (const feed of this.#feeds.values()) if (feed.readers.size > 0 && !feed.isReading) this.#lookAt(feed)
  }

  #lookAt(feed: Feed): void {
    const { feedId, sequence } = readExtent(feed.row)
    if (feedId !== feed.feedId) this.#replaced(feed)
    else if (sequence > feed.position) {
      feed.isReading = true
      const lookAgain = (): void => {
        feed.isReading = false
        this.#look()
      }
      this.#ask(feed, feed.position, (page) => {
        if (page === undefined) {
          later(lookAgain)
          return
        }
        feed.isReading = false
        this.#advance(feed, page)
        this.#look()
      })
    }
  }

  /** The positions of all who read this feed are void. */
  #replaced(feed: Feed): void {
    this.#endAll([...feed.readers])
    const { feedId, sequence } = readExtent(feed.row)
    feed.feedId = feedId
    feed.position = sequence
  }

  #advance(feed: Feed, { feedId, oldest, events }: Page): void {
    if (feedId !== feed.feedId || oldest > feed.position + 1) {
      this.#replaced(feed)
      return
    }
    for (const event of events) {
      // The page may have been asked for when others read the feed, from an older place.
      if (event.sequence <= feed.position) continue
      feed.position = event.sequence
      for (const group of this.#groups.values()) if (group.feeds.includes(feed)) group.moved()
      for (const { reader, group } of feed.live.candidates(event))
        if (reader.filter.passes(event)) reader.send(event, group.ids)
    }
    for (const each of [...this.#late]) this.#catchUp(each)
  }

  /** Has a late reader wait for the next page of what it lacks; makes it one of those who have all when it lacks nothing. */
  #catchUp(subscription: Subscription): void {
    const { reader, group, positions } = subscription
    if (positions === undefined || subscription.isReading || subscription.isEnded || reader.isBehind()) return
    if (lackedBy(subscription) !== undefined) {
      this.#waiting.add(subscription)
      this.#readPast()
      return
    }
    // Where it is ahead, another instance has told it more: this one gets there, too.
    if (group.feeds.some((feed) => positions.get(feed.networkId)!.sequence > feed.position)) return
    subscription.positions = undefined
    this.#late.delete(subscription)
    for (const feed of group.feeds) feed.live.add(subscription)
  }

  /** Reads one page for the reader that has waited longest. */
  #readPast(): void {
    if (this.#isPastRead) return
    let [subscription] = this.#waiting
    // Whoever does not take what it has is asked again once it has.
    for (; subscription?.reader.isBehind() === true; [subscription] = this.#waiting)
      this.#waiting.delete(subscription)
    if (subscription === undefined) return
    this.#waiting.delete(subscription)
    const feed = lackedBy(subscription)!
    this.#isPastRead = true
    subscription.isReading = true
    this.#ask(feed, subscription.positions!.get(feed.networkId)!.sequence, (page, startedAtMs) => {
      const readOn = (): void => {
        subscription.isReading = false
        this.#catchUp(subscription)
      }
      const nextPage = (): void => {
        this.#isPastRead = false
        this.#readPast()
      }
      try {
        if (page === undefined) later(readOn)
        else {
          this.#giveTo(subscription, feed, page)
          readOn()
        }
      } finally {
        // Also where one reader could not be given its page: the others wait.
        if (!this.#others.doAsk()) setImmediate(nextPage)
        else setTimeout(nextPage, PAST_REST * (performance.now() - startedAtMs)).unref()
      }
    })
  }

  #giveTo(subscription: Subscription, feed: Feed, page: Page): void {
    const { reader, positions } = subscription
    if (subscription.isEnded || positions === undefined) return
    const { feedId, sequence } = positions.get(feed.networkId)!
    if (page.feedId !== feedId || page.oldest > sequence + 1) {
      this.#endAll([subscription])
      return
    }
    for (const event of page.events) {
      // A page may be longer than what is kept for a reader that is behind: the rest of it is read again once this one has taken what it has.
      if (event.sequence > feed.position || subscription.isEnded || reader.isBehind()) break
      positions.set(feed.networkId, { feedId, sequence: event.sequence })
      if (reader.filter.passes(event)) reader.send(event, idsOf(subscription))
    }
  }

  /**
   * @param take is given nothing where no query thread could read, and else when this thread began to do so. Called later, once.
   */
  #ask(
    { networkId }: Feed,
    after: number,
    take: (page: Page | undefined, startedAtMs: number) => void,
  ): void {
    const deliver = (reply: QueryReply): void => {
      const startedAtMs = performance.now()
      if (reply.fault !== undefined)
        this.#logger.error('feed not read', { networkId, error: reply.fault.message })
      const isRead = reply.fault === undefined && reply.status === 200
      take(isRead ? pageOf(networkId, reply.body) : undefined, startedAtMs)
    }
    const query = { networkId, after, limit: PAGE_EVENTS }
    const isWanted = () => true
    const isTaken = this.#pool.submit({
      ...{ operation: 'readFeed', query, coding: 'identity', isWanted, deliver },
    })
    if (!isTaken) later(() => take(undefined, performance.now()))
  }

  #pingSome(): void {
    this.#seconds++
    const slot = this.#seconds % PING_EVERY_SEC
    for (const subscription of this.#subscriptions.values())
      if (subscription.pingAt === slot) subscription.reader.ping(idsOf(subscription))
  }

  #endAll(subscriptions: readonly Subscription[]): void {
    for (const { reader } of subscriptions) {
      this.remove(reader)
      reader.end()
    }
  }
}

function later(retry: () => void): void {
  setTimeout(retry, RETRY_MS).unref()
}

/** The first feed of which a late reader lacks something. */
function lackedBy({ group, positions }: Subscription): Feed | undefined {
  return group.feeds.find((feed) => positions!.get(feed.networkId)!.sequence < feed.position)
}

interface Page {
  readonly feedId: number
  readonly oldest: number
  readonly events: readonly ToldEvent[]
}

function pageOf(networkId: NetworkId, body: Uint8Array): Page {
  // A copy: the body may be shared memory, which a decoder does not take.
  const [head, ...lines] = Buffer.from(body).toString('utf8').split('\n')
  const { feedId, oldest } = JSON.parse(head!) as Omit<Page, 'events'>
  return { feedId, oldest, events: lines.map((line) => new ToldEvent(networkId, line)) }
}

/** Where a reader is. */
function idsOf({ positions, group }: Subscription): string {
  if (positions === undefined) return group.ids
  return [...positions].map(([networkId, position]) => positionText(networkId, position)).join(',')
}
