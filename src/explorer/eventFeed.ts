import { apiUrl, feedPosition } from './pageSettings.js'

/**
 * The service's events, as they happen, over one connection of the browser. A hidden page has none, and of the windows that can be seen at most
 * `SEATS` have one: over HTTP/1.1 a browser opens six connections to a host, which pages also ask their questions with.
 */
const SEATS = 2

/** Types of events that a page acts on. */
const TYPES = [
  'bridge',
  'claim',
  'claimable',
  'unclaimable',
  'token_mapping',
  'sync',
  'reorg',
  'start_over',
  'halted',
  'resumed',
] as const

export type EventType = (typeof TYPES)[number]

export interface FeedListener {
  /** Events come from now on. @param hasGap what happened before this may not have been told. */
  onOpen(hasGap: boolean): void
  onEvent(type: EventType, data: string): void
  /** The connection broke. The browser makes another one, which goes on from its place. */
  onCut(): void
  /** This page gets no events: the service gives none, or other windows have them. */
  onNone(): void
}

let source: EventSource | undefined
/** Position of the last event. */
let place: string | undefined
/** Only the first connection goes on from where the page read its first list. */
let isFirst = true
let leaveSeat: (() => void) | undefined
/** Which call of `openFeed` is in force: closing ends it, also while it waits for a seat. */
let turn = 0

/** Makes a new connection: from where the last one ended, or from where the first list was read. */
export async function openFeed(listener: FeedListener): Promise<void> {
  if (navigator.locks === undefined) closeFeed()
  source?.close()
  const own = ++turn
  const leave = leaveSeat ?? (await takeSeat())
  if (own !== turn) leave?.()
  else if (leave === undefined) listener.onNone()
  else {
    leaveSeat = leave
    connect(place ?? (isFirst ? feedPosition() : undefined), listener)
    isFirst = false
  }
}

export function closeFeed(): void {
  turn++
  source?.close()
  source = undefined
  leaveSeat?.()
  leaveSeat = undefined
}

function connect(after: string | undefined, listener: FeedListener): void {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
  const opened = new EventSource(`${apiUrl}/bridge/v1/events${query}`)
  source = opened
  let hasGap = after === undefined
  opened.onopen = () => {
    listener.onOpen(hasGap)
    hasGap = false
  }
  opened.onerror = () => {
    if (opened.readyState !== EventSource.CLOSED) return listener.onCut()
    // It was refused, which browsers do not tell the reason of. Events behind an old place may not be kept any more: then there are newer ones.
    const hadPlace = after !== undefined || place !== undefined
    place = undefined
    if (hadPlace) return connect(undefined, listener)
    closeFeed()
    listener.onNone()
  }
  for (const type of TYPES)
    opened.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
      place = lastEventId
      listener.onEvent(type, data)
    })
}

/**
 * A seat among all windows of the browser.
 * @returns leaves it; undefined where none is free.
 */
async function takeSeat(): Promise<(() => void) | undefined> {
  // Pages over plain HTTP from elsewhere have no locks: of these the one that has the focus gets events.
  if (navigator.locks === undefined) return document.hasFocus() ? () => undefined : undefined
  for (let seat = 0; seat < SEATS; seat++) {
    const leave = await takeLock(`${apiUrl} events ${seat}`)
    if (leave !== undefined) return leave
  }
  return undefined
}

function takeLock(name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) return resolve(undefined)
        return new Promise<void>((leave) => resolve(leave))
      })
      // Where pages may not use them.
      .catch(() => resolve(undefined))
  })
}
