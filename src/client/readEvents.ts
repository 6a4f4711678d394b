import { BridgeApiError, BridgeNetworkError, BridgeResponseError, mayPass } from './clientErrors.js'
import { decodeAnswer, WrongShape } from './decodeAnswer.js'
import type { EventBody, Transport } from './transport.js'
import { timerMs, waitAfter } from './waits.js'
import { type EventsParameters, eventShapes, type FeedEvent } from './wireDefinition.js'

/** Which events are wanted. */
export type EventFilter = Omit<EventsParameters, 'after'>

/** An event, and where its reader is behind it: `after` of a later call. */
export type PlacedEvent = FeedEvent & { readonly position: string }

export interface EventsOptions {
  /** Ends the iterator. What it throws then is the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Where to go on: `position` of the last event that was handled. Default: what comes from now on. */
  readonly after?: string | undefined
  /**
   * Called, and awaited, when the events begin at another place than behind the last one: at first without `after`, and when they are not kept
   * any more. Read the lists there: what happens meanwhile follows. Where it throws what may pass, it is called again. Without it the iterator throws BridgeApiError with POSITION_GONE.
   */
  readonly onStart?: ((position: string) => void | Promise<void>) | undefined
  /** A connection that says nothing for so long is given up, in milliseconds. The service says something every 15 s. Default: 45,000. */
  readonly silenceMs?: number | undefined
}

/** Events as they happen. A connection that breaks is made anew, and goes on behind the last event, however long that takes. */
export async function* readEvents(
  { openEvents, clock }: Pick<Transport, 'openEvents' | 'clock'>,
  filter: EventFilter,
  { signal, onStart, silenceMs = 45_000, ...options }: EventsOptions = {},
): AsyncGenerator<PlacedEvent, void, undefined> {
  let { after } = options
  let isNew = after === undefined
  let failures = 0
  for (;;) {
    signal?.throwIfAborted()
    const connection = new AbortController()
    const stop = (): void => connection.abort()
    signal?.addEventListener('abort', stop, { once: true })
    let retryMs = 0
    let waitMs: number | undefined
    try {
      const body = await openEvents({ ...filter, after }, connection.signal)
      for await (const message of readMessages(body, silenceMs)) {
        failures = 0
        retryMs = message.retryMs ?? retryMs
        after = message.id ?? after
        if (isNew && after !== undefined) {
          await onStart?.(after)
          isNew = false
        }
        signal?.throwIfAborted()
        const event = message.data === undefined ? undefined : eventOf(message.data)
        // The union is not kept where a field is added to all of its members.
        if (event !== undefined) yield { ...event, position: after ?? '' } as PlacedEvent
      }
    } catch (error) {
      signal?.throwIfAborted()
      const isGone = error instanceof BridgeApiError && error.code === 'POSITION_GONE'
      if (isGone && onStart !== undefined && after !== undefined) {
        after = undefined
        isNew = true
      } else if (!mayPass(error)) throw error
      else waitMs = error.retryAfterMs
    } finally {
      signal?.removeEventListener('abort', stop)
      connection.abort()
    }
    failures += 1
    await clock.sleep(Math.max(retryMs, waitAfter(failures, clock, waitMs)), signal)
  }
}

interface Message {
  readonly id: string | undefined
  readonly data: string | undefined
  readonly retryMs: number | undefined
}

/** What Server-Sent Events say between two empty lines. @throws BridgeNetworkError when the connection breaks or says nothing. */
async function* readMessages(body: EventBody, silenceMs: number): AsyncGenerator<Message, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs)
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) yield messageOf(block)
    }
  } finally {
    // Also where nobody wants more. A connection that broke can't be cancelled, and needs not be.
    reader.cancel().catch(() => undefined)
  }
}

async function withinSilence<T>(read: Promise<T>, silenceMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    const error = new BridgeNetworkError('TIMEOUT', 'events: the connection says nothing', 1, undefined)
    timer = setTimeout(() => reject(error), timerMs(silenceMs))
  })
  try {
    return await Promise.race([
      read.catch(() => {
        throw new BridgeNetworkError('CONNECTION_FAILED', 'events: the connection broke', 1, undefined)
      }),
      silence,
    ])
  } finally {
    clearTimeout(timer)
  }
}

function messageOf(block: string): Message {
  const found: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field !== undefined) found[field] = value ?? ''
  }
  const retryMs = Number(found.retry)
  return { id: found.id, data: found.data, retryMs: retryMs >= 0 ? retryMs : undefined }
}

/** @returns undefined for an event of a type that this client does not know. */
function eventOf(data: string): FeedEvent | undefined {
  const facts = { status: 200, attempts: 1, retryAfterMs: undefined }
  try {
    const json = JSON.parse(data) as { readonly type?: unknown }
    const shape = Object.entries(eventShapes).find(([type]) => type === json.type)?.[1]
    // The decoder makes it of its type's shape.
    return shape && (decodeAnswer(shape, json) as FeedEvent)
  } catch (error) {
    throw error instanceof WrongShape
      ? new BridgeResponseError('WRONG_SHAPE', `events: ${error.message}`, facts)
      : new BridgeResponseError('NOT_JSON', 'events: an event is not JSON', facts)
  }
}
