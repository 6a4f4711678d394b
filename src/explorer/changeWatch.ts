import { useEffect, useState } from 'preact/hooks'
import { BridgeClientError, type SyncStatusResponse } from '../client/bridgeClient.js'
import { clientClock } from '../client/waits.js'
import { closeFeed, type EventType, openFeed } from './eventFeed.js'
import { api, feedPosition } from './pageSettings.js'

/**
 * Tells when something may have changed, so that whoever shows answers asks again. The service's events tell it at once. Without them the page
 * looks every two seconds at the sync status, which the service answers from memory: every commit, reorg and halt moves a number in it.
 */
export interface WatchState {
  /** Undefined before the first answer. */
  readonly sync: SyncStatusResponse | undefined
  /**
   * `live`: events come. `looking`: there are none, so the page looks by itself. `cut`: they have come, and the connection broke; the page looks
   * meanwhile. `lost`: the last look failed. `asleep`: nobody looks at the page.
   */
  readonly link: 'starting' | 'live' | 'looking' | 'cut' | 'lost' | 'asleep'
  /** Of a failed look. */
  readonly failure: unknown
  /** Blocks per second that each network was indexed at while it caught up. */
  readonly rates: ReadonlyMap<number, number>
}

/** What a view follows: rows that are made or change, or also every block, by which bridges come nearer to being claimed. */
export type Follows = 'rows' | 'blocks'

/** Source networks of the bridges that may have changed; undefined where it may be any. */
export type Touched = ReadonlySet<number> | undefined

/** A network has taken back what it had from these places on. */
export interface Reorg {
  readonly networkId: number
  readonly depositCount: number
  /** Claims above this block are gone, too; undefined where none is. */
  readonly ancestorBlock: number | undefined
}

const LOOK_MS = 2_000
/** Beside events, which other instances of the service than the one that answers may be ahead of. */
const SLOW_LOOK_MS = 10_000
const LEAST_LOOK_MS = 2_000
const LOST_MS = 3_000
/** A connection that is made anew within that was no interruption. */
const CUT_MS = 3_000
/** Where the service gives no events it may do so later. */
const AGAIN_MS = 15_000
/** Looks that saw news of which no event told: then the connection is dead, and nobody has noticed. */
const MOST_UNTOLD = 3
/** Rows that are gone are explained by a reorg so long after it. */
const REORG_MS = 10_000

/** `broken`: not for long yet. */
type Feed = 'opening' | 'open' | 'broken' | 'cut' | 'none'

let state: WatchState = { sync: undefined, link: 'starting', failure: undefined, rates: new Map() }
let mark = ''
let isLost = false
let feed: Feed = 'opening'
let untold = 0
let lastLookMs = 0
let timer: ReturnType<typeof setTimeout> | undefined
let feedTimer: ReturnType<typeof setTimeout> | undefined
const viewers = new Set<() => void>()
const askers = new Map<(touched: Touched) => void, Follows>()
let reorgs: readonly (Reorg & { readonly atMs: number })[] = []

function set(next: Partial<WatchState>): void {
  state = { ...state, ...next }
  for (const viewer of viewers) viewer()
}

function showLink(next: Partial<WatchState> = {}): void {
  const links = { opening: 'starting', open: 'live', broken: 'live', cut: 'cut', none: 'looking' } as const
  set({ ...next, link: document.hidden ? 'asleep' : isLost ? 'lost' : links[feed] })
}

function tell(news: Follows, touched?: Touched): void {
  for (const [ask, follows] of askers) if (news === 'rows' || follows === 'blocks') ask(touched)
}

/** All that moves with data, and nothing that moves with time alone. */
function markOf({ networks }: SyncStatusResponse): string {
  return networks
    .map((network) =>
      [
        network.syncedBlock,
        network.finalizedBlock,
        network.isSynced,
        network.halted,
        network.indexedDepositCount,
        network.indexedClaimCount,
        network.unresolvedSenders,
        network.reasons,
      ].join(),
    )
    .join('|')
}

/** @param why `event`: one has told of a block. */
async function look(why: 'time' | 'event' = 'time'): Promise<void> {
  clearTimeout(timer)
  if (document.hidden) return
  try {
    const sync = await api.getSyncStatus({ attemptTimeoutMs: 10_000 })
    const next = markOf(sync)
    const isNews = next !== mark || isLost
    mark = next
    isLost = false
    showLink({ sync, failure: undefined, rates: ratesOf(sync) })
    if (isNews) tell(why === 'event' ? 'blocks' : 'rows')
    if (feed === 'open' && why === 'time') untold = isNews ? untold + 1 : 0
    if (untold >= MOST_UNTOLD) startFeed()
    timer = setTimeout(look, feed === 'open' ? SLOW_LOOK_MS : LOOK_MS)
  } catch (failure) {
    isLost = true
    showLink({ failure })
    const waitMs = failure instanceof BridgeClientError ? (failure.retryAfterMs ?? 0) : 0
    timer = setTimeout(look, Math.max(waitMs, LOST_MS))
  }
}

function ratesOf(sync: SyncStatusResponse): Map<number, number> {
  const nowMs = clientClock.now()
  const seconds = (nowMs - lastLookMs) / 1000
  lastLookMs = nowMs
  const rates = new Map<number, number>()
  for (const { networkId, syncedBlock } of sync.networks) {
    const before = state.sync?.networks.find((network) => network.networkId === networkId)
    if (before === undefined || seconds <= 0) continue
    const rate = Math.max(0, syncedBlock - before.syncedBlock) / seconds
    const known = state.rates.get(networkId)
    rates.set(networkId, known === undefined ? rate : 0.7 * known + 0.3 * rate)
  }
  return rates
}

function startFeed(): void {
  clearTimeout(feedTimer)
  untold = 0
  void openFeed({
    onOpen(hasGap) {
      clearTimeout(feedTimer)
      feed = 'open'
      showLink()
      if (hasGap) tell('rows')
    },
    onEvent,
    onCut() {
      if (feed !== 'open') return
      feed = 'broken'
      void look()
      feedTimer = setTimeout(() => {
        feed = 'cut'
        showLink()
      }, CUT_MS)
    },
    onNone() {
      feed = 'none'
      showLink()
      void look()
      feedTimer = setTimeout(startFeed, AGAIN_MS)
    },
  })
}

function onEvent(type: EventType, data: string): void {
  untold = 0
  if (type === 'reorg') noteReorg(data)
  if (type !== 'sync' || isHistory(data)) tell('rows', touchedBy(type, data))
  if (type === 'sync' || type === 'halted' || type === 'resumed') {
    clearTimeout(timer)
    timer = setTimeout(() => look('event'), Math.max(0, lastLookMs + LEAST_LOOK_MS - clientClock.now()))
  }
}

function touchedBy(type: EventType, data: string): Touched {
  const { network_id, origin_network } = JSON.parse(data) as {
    readonly network_id: number
    readonly origin_network: number
  }
  if (type === 'bridge') return new Set([network_id])
  if (type === 'claim' || type === 'claimable' || type === 'unclaimable') return new Set([origin_network])
  return type === 'token_mapping' ? new Set() : undefined
}

function isHistory(data: string): boolean {
  return (JSON.parse(data) as { readonly is_history?: boolean }).is_history === true
}

function noteReorg(data: string): void {
  const { network_id, deposit_count, ancestor_block, is_cut } = JSON.parse(data) as {
    readonly network_id: number
    readonly deposit_count: number
    readonly ancestor_block: number | null
    readonly is_cut: boolean
  }
  const atMs = clientClock.now()
  const ancestorBlock = is_cut ? undefined : (ancestor_block ?? -1)
  reorgs = [...recentReorgs(), { networkId: network_id, depositCount: deposit_count, ancestorBlock, atMs }]
}

/** What networks have taken back within the last seconds. */
export function recentReorgs(): readonly (Reorg & { readonly atMs: number })[] {
  const nowMs = clientClock.now()
  return reorgs.filter(({ atMs }) => nowMs - atMs < REORG_MS)
}

const LIST_MS = 100
const LIST_LOOKS = 20

/** Begins to watch. Call it once. */
export function startWatch(): void {
  const begin = (): void => {
    feed = 'opening'
    showLink()
    if (document.hidden) {
      clearTimeout(feedTimer)
      closeFeed()
      return
    }
    void look()
    startFeed()
  }
  document.addEventListener('visibilitychange', begin)
  addEventListener('online', begin)
  addEventListener('offline', () => void look())
  // Without locks the window that has the focus gets events.
  if (navigator.locks === undefined) for (const type of ['focus', 'blur']) addEventListener(type, begin)
  void look()
  // From where the first list was read, so that nothing is asked for twice. Not all views show one.
  const waitForList = (left: number): void => {
    if (document.hidden) showLink()
    else if (feedPosition() !== undefined || left === 0) startFeed()
    else feedTimer = setTimeout(() => waitForList(left - 1), LIST_MS)
  }
  waitForList(LIST_LOOKS)
}

/** Calls `ask` whenever answers may have changed. @returns ends that. */
export function onChange(ask: (touched: Touched) => void, follows: Follows): () => void {
  askers.set(ask, follows)
  return () => void askers.delete(ask)
}

export function useWatch(): WatchState {
  const [shown, setShown] = useState(state)
  useEffect(() => {
    const viewer = (): void => setShown(state)
    viewers.add(viewer)
    viewer()
    return () => void viewers.delete(viewer)
  }, [])
  return shown
}
