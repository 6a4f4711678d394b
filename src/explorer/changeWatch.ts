import { useEffect, useState } from 'preact/hooks'
import { BridgeClientError, type SyncStatusResponse } from '../client/bridgeClient.js'
import { clientClock } from '../client/waits.js'
import { api } from './pageSettings.js'

/**
 * Tells when something may have changed, so that whoever shows answers asks again. It looks at the sync status, which the service answers from
 * memory: every commit, reorg and halt moves a number in it. A feed of events takes the place of `look`, and of nothing else.
 */
export interface WatchState {
  /** Undefined before the first answer. */
  readonly sync: SyncStatusResponse | undefined
  /** `lost`: the last look failed. `asleep`: nobody looks at the page. */
  readonly link: 'starting' | 'live' | 'lost' | 'asleep'
  /** Of a failed look. */
  readonly failure: unknown
  /** Blocks per second that each network was indexed at while it caught up. */
  readonly rates: ReadonlyMap<number, number>
}

const LOOK_MS = 2_000
const LOST_MS = 3_000

let state: WatchState = { sync: undefined, link: 'starting', failure: undefined, rates: new Map() }
let mark = ''
let lastLookMs = 0
let timer: ReturnType<typeof setTimeout> | undefined
const viewers = new Set<() => void>()
const askers = new Set<() => void>()

function set(next: Partial<WatchState>): void {
  state = { ...state, ...next }
  for (const viewer of viewers) viewer()
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

async function look(): Promise<void> {
  clearTimeout(timer)
  if (document.hidden) return set({ link: 'asleep' })
  try {
    const sync = await api.getSyncStatus({ attemptTimeoutMs: 10_000 })
    const next = markOf(sync)
    const isNews = next !== mark || state.link === 'lost'
    mark = next
    set({ sync, link: 'live', failure: undefined, rates: ratesOf(sync) })
    if (isNews) for (const ask of askers) ask()
    timer = setTimeout(look, LOOK_MS)
  } catch (failure) {
    set({ link: 'lost', failure })
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

/** Begins to look. Call it once. */
export function startWatch(): void {
  document.addEventListener('visibilitychange', () => void look())
  addEventListener('online', () => void look())
  void look()
}

/** Calls `ask` whenever answers may have changed. @returns ends that. */
export function onChange(ask: () => void): () => void {
  askers.add(ask)
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
