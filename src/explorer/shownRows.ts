/** Which rows a table shows while they change under somebody's eyes. Nothing here knows the browser. */

export interface ShownRow<Row> {
  readonly key: string
  readonly row: Row
  /** `new`: it was not there before. `gone`: its network has taken it back; it is shown for a moment more. */
  readonly mark?: 'new' | 'gone'
}

/**
 * @param before what is shown now; nothing at first.
 * @param rows what is there now.
 * @param isHeld somebody points at the rows: none comes, moves or goes, and each shows what is known of it now.
 * @param isTakenBack whether a row that is not there any more was taken back, and did not only make room for newer ones.
 */
export function nextRows<Row>(
  before: readonly ShownRow<Row>[],
  rows: readonly Row[],
  {
    keyOf,
    isHeld,
    isTakenBack,
  }: {
    readonly keyOf: (row: Row) => string
    readonly isHeld: boolean
    readonly isTakenBack: (row: Row) => boolean
  },
): readonly ShownRow<Row>[] {
  const now = new Map(rows.map((row) => [keyOf(row), row]))
  const goneOf = ({ key, row }: ShownRow<Row>): boolean => !now.has(key) && isTakenBack(row)
  if (isHeld && before.length > 0)
    return before.map((shown) => {
      const { key, row } = shown
      return goneOf(shown) ? { key, row, mark: 'gone' } : { key, row: now.get(key) ?? row }
    })
  // Where all rows are others, another list is shown, and none of them is news.
  const isSameList = before.some(({ key }) => now.has(key))
  const known = new Set(before.map(({ key }) => key))
  const shown = rows.map((row): ShownRow<Row> => {
    const key = keyOf(row)
    return isSameList && !known.has(key) ? { key, row, mark: 'new' } : { key, row }
  })
  // Each behind the row that it stood behind.
  for (const [at, last] of before.entries()) {
    if (!goneOf(last)) continue
    const behind = before.slice(0, at).findLast(({ key }) => shown.some((other) => other.key === key))
    const place = behind === undefined ? 0 : shown.findIndex(({ key }) => key === behind.key) + 1
    shown.splice(place, 0, { key: last.key, row: last.row, mark: 'gone' })
  }
  return shown
}
