/** What an attacker's process does: its first argument, as JSON. */
export interface AttackOrder {
  readonly port: number
  /** Loopback addresses that its connections come from, in turn. */
  readonly from: readonly string[]
  readonly connections: number
  /** What the attacker sends at most, with the packets that open a connection. */
  readonly bytesPerSec: number
  /** Bytes that it may send at once at the start. */
  readonly burstBytes?: number
  /** Requests in turn. In each, `{n}` is replaced by a number that is counted up from 1. */
  readonly requests: readonly string[]
  /** So many different numbers; default: no bound. */
  readonly numbers?: number
  /** So often each number is asked for, soon after one another; default 1. The attack ends when all were asked for. */
  readonly times?: number
  readonly manner: Manner
}

export type Manner =
  /** So many requests in one piece on each connection, again when they have been taken. */
  | { readonly type: 'pipeline'; readonly requests: number }
  /** The next request follows the answer. */
  | { readonly type: 'ask' }
  /** The connection is reset so long after the request. */
  | { readonly type: 'reset'; readonly afterMs: number }
  /** The connection stays open, and a request goes out every so often. */
  | { readonly type: 'hold'; readonly everyMs: number }
  /** One byte of its request every so often, for ever: each is a packet of its own. */
  | { readonly type: 'drip'; readonly everyMs: number }
  /** As `hold`, without reading an answer, until so many requests are out. */
  | { readonly type: 'stall'; readonly everyMs: number; readonly requests: number }

/** What an attacker did. */
export interface AttackReport {
  readonly seconds: number
  readonly bytes: number
  readonly requests: number
  readonly opened: number
  /** Connections that it did not end itself. */
  readonly closed: number
  /** Answers by status, where it reads them. */
  readonly answers: Readonly<Record<string, number>>
}

/** What an attacker tells its parent: that it has begun, that it has asked for everything, or what it did. */
export type AttackMessage = 'begun' | 'done' | AttackReport
