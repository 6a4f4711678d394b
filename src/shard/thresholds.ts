/** Where one way of answering filters gives way to the next; tests lower them, so that small worlds go every way. */
export interface Thresholds {
  /** Up to so many candidates are looked at row by row, without any set. */
  readonly rowsWorthReading: number
  /** Up to so many are gone through anew for each page; the answer to more is kept. */
  readonly worthKeeping: number
}

export const THRESHOLDS: Thresholds = { rowsWorthReading: 32, worthKeeping: 128 }
