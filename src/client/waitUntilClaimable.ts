import type { CallOptions, ClientClock } from './call.types.js'
import { type BridgeClientError, mayPass, NotClaimableError } from './clientErrors.js'
import type { EventFilter, EventsOptions } from './readEvents.js'
import type { Bridge, Endpoints } from './wireDefinition.js'

/** Names one bridge; a record of the list does. */
export interface BridgeName {
  readonly originNetwork: number
  readonly depositCount: number
  /** Where it is given, another transaction under this deposit count is an error: a reorg has replaced the bridge. */
  readonly txHash?: string | undefined
}

/** One look at a bridge that is not claimable yet. */
export interface ClaimablePoll {
  /** Its record; undefined while it is not indexed, or when asking for it failed. */
  readonly bridge: Bridge | undefined
  /** A failure that may pass. */
  readonly error: BridgeClientError | undefined
  /** Time until the next look, unless an event tells of the bridge before. */
  readonly waitMs: number
}

export interface WaitOptions extends CallOptions {
  /** The first wait, in milliseconds. It grows by half with each look. Default: 2,000. */
  readonly minIntervalMs?: number | undefined
  /** The longest wait, in milliseconds. Default: 30,000. */
  readonly maxIntervalMs?: number | undefined
  /** Told of each look that does not end the wait. */
  readonly onPoll?: ((poll: ClaimablePoll) => void) | undefined
}

/** What waiting takes of a client. Without events the bridge is only looked at. */
export interface BridgeWatch extends Pick<Endpoints, 'getBridges' | 'getHealth'> {
  events?(filter: EventFilter, options: EventsOptions): AsyncIterable<unknown>
}

/** @returns the bridge as soon as it is ready to be claimed. @throws NotClaimableError; what ends a call, unless it may pass. */
export async function waitUntilClaimable(
  { getBridges, getHealth, events }: BridgeWatch,
  clock: ClientClock,
  name: BridgeName,
  { minIntervalMs = 2_000, maxIntervalMs = 30_000, onPoll, ...call }: WaitOptions = {},
): Promise<Bridge> {
  const news = new News()
  let isDestinationServed = false
  try {
    for (let looks = 0; ; looks++) {
      let bridge: Bridge | undefined
      let error: BridgeClientError | undefined
      try {
        const answer = await getBridges(
          { networkId: name.originNetwork, depositCount: name.depositCount },
          call,
        )
        bridge = answer.bridges[0]
        if (bridge !== undefined) {
          if (isReady(bridge, name)) return bridge
          // No instance knows whether a bridge to a network that it does not serve can be claimed.
          isDestinationServed ||= (await getHealth(call)).supportedNetworks.includes(
            bridge.destinationNetwork,
          )
          if (!isDestinationServed) throw new NotClaimableError('DESTINATION_NOT_SERVED', bridge)
        }
      } catch (caught) {
        if (!mayPass(caught)) throw caught
        error = caught
      }
      // Beyond 2^40 the power is larger than any interval. At least half of the interval, so that waits grow in spite of the jitter.
      const intervalMs = Math.min(maxIntervalMs, minIntervalMs * 1.5 ** Math.min(looks, 60))
      const waitMs = Math.max(error?.retryAfterMs ?? 0, intervalMs / 2) + (clock.random() * intervalMs) / 2
      onPoll?.({ bridge, error, waitMs })
      if (looks === 0 && events !== undefined) news.follow(events, name)
      // A cache on the way may not show yet what an event has told.
      if (await news.within(waitMs, clock, call.signal)) looks = 0
    }
  } finally {
    news.end()
  }
}

/** What may make a bridge claimable, or hopeless. */
const TYPES = ['bridge', 'claim', 'claimable', 'resumed', 'start_over'] as const

/** Whether something was told of one bridge. */
class News {
  private readonly following = new AbortController()
  private isThere = false
  private wake: (() => void) | undefined

  /** Events that can't be had are no failure: the bridge is looked at all the same. */
  follow(events: NonNullable<BridgeWatch['events']>, { originNetwork, depositCount }: BridgeName): void {
    const tell = (): void => {
      this.isThere = true
      this.wake?.()
    }
    const read = async (): Promise<void> => {
      const filter = { originNetwork, depositCount, types: TYPES }
      // What happened before they begin is in the lists.
      const options = { signal: this.following.signal, onStart: tell }
      for await (const _ of events(filter, options)) tell()
    }
    read().catch(() => undefined)
  }

  /** Waits so long at most. @returns whether there are news since the last call. @throws the signal's reason when it is aborted. */
  async within(ms: number, clock: ClientClock, signal: AbortSignal | undefined): Promise<boolean> {
    const rest = new AbortController()
    this.wake = () => rest.abort()
    signal?.addEventListener('abort', this.wake, { once: true })
    try {
      if (!this.isThere) await clock.sleep(ms, rest.signal)
    } catch {
      // Woken.
    } finally {
      signal?.removeEventListener('abort', this.wake)
    }
    signal?.throwIfAborted()
    const { isThere } = this
    this.isThere = false
    return isThere
  }

  end(): void {
    this.following.abort()
  }
}

/** @throws NotClaimableError when waiting is no use. */
function isReady(bridge: Bridge, { txHash }: BridgeName): boolean {
  if (txHash !== undefined && txHash.toLowerCase() !== bridge.txHash)
    throw new NotClaimableError('REPLACED', bridge)
  if (bridge.claimMatches === false) throw new NotClaimableError('BLOCKED', bridge)
  if (bridge.claimTxHash !== null) throw new NotClaimableError('ALREADY_CLAIMED', bridge)
  return bridge.readyForClaim
}
