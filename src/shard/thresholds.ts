import type { SlotCounts } from './rowArena.js'

/** Where one way of answering filters gives way to the next; tests lower them, so that small worlds go every way. */
export interface Thresholds {
  /** Up to so many candidates are looked at row by row, without any set. */
  readonly rowsWorthReading: number
  /** Up to so many are gone through anew for each page; the answer to more is kept. */
  readonly worthKeeping: number
  /** Read when the first row is packed. */
  readonly slots: SlotCounts
}

/**
 * Kept chunks have 4 kB each, 15 MB in all: 17,000 deposits and as many claims, 41,000 senders, the hashes of 130,000 claims,
 * the links of a million deposits.
 */
const SLOTS: SlotCounts = { deposits: 512, senders: 512, claims: 512, hashes: 1024, links: 1024 }

export const THRESHOLDS: Thresholds = { rowsWorthReading: 32, worthKeeping: 128, slots: SLOTS }
