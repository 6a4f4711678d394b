import { setTimeout as delay } from 'node:timers/promises'
import { type AskedService, NoAnswerError } from './askedService.js'
import { both, type Comparison, type Findings, type Pair, type Verdict } from './comparison.js'

/** A record as a service tells it. */
export type Row = Readonly<Record<string, unknown>>

/** A list that both services have. */
export interface ComparedList {
  /** `bridges`: what is counted and shown. */
  readonly name: string
  /** `bridges of network 1`. */
  readonly title: string
  readonly pageSize: number
  /** @param number from 0 on. */
  page(
    service: AskedService,
    number: number,
  ): Promise<{ readonly rows: readonly Row[]; readonly total: number }>
  /** The same for rows of both that are about the same. */
  key(row: Row): string
  /** `bridge 5 of network 1`. */
  titleOf(row: Row): string
  /** Fields that differ for a reason that docs/compatibility.md gives. */
  readonly passedOver: ReadonlySet<string>
  /** What the rows are sorted by, falling; absent: they stand in no order that both keep. */
  place?(row: Row): number
  /** Asks for one row alone. @returns undefined where there is none. */
  again(service: AskedService, row: Row): Promise<Row | undefined>
  /** Who is right about a row that one of both does not have. */
  judgeMissing(row: Row, holder: keyof Pair<unknown>): Promise<Verdict>
  /** Who is right about fields that differ. */
  judgeFields(rows: Pair<Row>, fields: readonly string[]): Promise<ReadonlyMap<string, Verdict>>
  /** Is told each row that both have. */
  onRow?(rows: Pair<Row>): void
}

/** A value as text: numbers and texts of numbers are the same, and so are letter cases of hexadecimal digits. */
export function plain(value: unknown): string {
  if (typeof value === 'string') return /^0x/i.test(value) ? value.toLowerCase() : value
  return JSON.stringify(value) ?? 'null'
}

/** Keys of values that differ, of those that both have. */
function differingFields({ ours, theirs }: Pair<Row>, passedOver: ReadonlySet<string>): string[] {
  return Object.keys(ours).filter(
    (key) => key in theirs && !passedOver.has(key) && plain(ours[key]) !== plain(theirs[key]),
  )
}

/** @throws NoAnswerError when it is no list of rows. */
export function rowsIn(service: AskedService, json: unknown, key: string): readonly Row[] {
  const rows = typeof json === 'object' && json !== null ? (json as Row)[key] : undefined
  if (!Array.isArray(rows) || rows.some((row) => typeof row !== 'object' || row === null))
    throw new NoAnswerError(`${service.name} answered without a list of ${key}: is this its address?`)
  return rows
}

/** Reads one list of one service page by page. */
class ListReader {
  readonly #list: ComparedList
  readonly #service: AskedService
  #page = 0
  #total = Number.POSITIVE_INFINITY
  /** Keys of this page and of the one before. Rows that arrive meanwhile move others onto the next page, where they are told once more. */
  #recent: readonly ReadonlySet<string>[] = []
  #lowest = Number.POSITIVE_INFINITY
  /** The first row that stands behind one that it should stand in front of. */
  outOfOrder: Row | undefined

  constructor(list: ComparedList, service: AskedService) {
    this.#list = list
    this.#service = service
  }

  get isAtEnd(): boolean {
    return this.#page * this.#list.pageSize >= this.#total
  }

  get share(): number {
    return Number.isFinite(this.#total) && this.#total > 0
      ? Math.min(1, (this.#page * this.#list.pageSize) / this.#total)
      : 0
  }

  /** @returns the rows of the next page that no page before had; none behind the last one. */
  async next(): Promise<Row[]> {
    if (this.isAtEnd) return []
    const { key, place } = this.#list
    const { rows, total } = await this.#list.page(this.#service, this.#page++)
    this.#total = rows.length === 0 ? 0 : total
    const fresh = rows.filter((row) => !this.#recent.some((keys) => keys.has(key(row))))
    this.#recent = [new Set(rows.map(key)), ...this.#recent.slice(0, 1)]
    for (const row of fresh) {
      const at = place?.(row)
      if (at === undefined) continue
      if (at > this.#lowest) this.outOfOrder ??= row
      else this.#lowest = at
    }
    return fresh
  }
}

/** Most rows that are looked at once more. More differ only where the services are of other chains. */
const MOST_AGAIN = 1_000

/**
 * Pages through both lists at once. Rows meet by their keys, wherever they stand: what one has and the other has not met waits, so memory
 * grows with how far the lists lie apart. Differences are told when they are still there after a while.
 * @param shareOf puts the share of this list into that of the whole.
 * @throws NoAnswerError
 */
export async function compareLists(
  comparison: Comparison,
  list: ComparedList,
  shareOf: (share: number) => number,
): Promise<void> {
  const { services, findings, progress, settleMs } = comparison
  const readers = {
    ours: new ListReader(list, services.ours),
    theirs: new ListReader(list, services.theirs),
  }
  const waiting = { ours: new Map<string, Row>(), theirs: new Map<string, Row>() }
  const suspects: Row[] = []
  const meet = (row: Row, side: keyof Pair<unknown>): void => {
    const key = list.key(row)
    const other = waiting[side === 'ours' ? 'theirs' : 'ours']
    const met = other.get(key)
    if (met === undefined) {
      waiting[side].set(key, row)
      return
    }
    other.delete(key)
    const rows = side === 'ours' ? { ours: row, theirs: met } : { ours: met, theirs: row }
    findings.count(list.name)
    list.onRow?.(rows)
    noteLonelyKeys(findings, list.name, rows)
    if (differingFields(rows, list.passedOver).length > 0) suspects.push(rows.ours)
  }
  while (!readers.ours.isAtEnd || !readers.theirs.isAtEnd) {
    progress.show(shareOf(readers.ours.share), list.title)
    const [ours, theirs] = await Promise.all([readers.ours.next(), readers.theirs.next()])
    for (const row of ours) meet(row, 'ours')
    for (const row of theirs) meet(row, 'theirs')
  }
  for (const [side, { outOfOrder }] of Object.entries(readers))
    if (outOfOrder !== undefined) {
      const title = list.titleOf(outOfOrder)
      findings.add({
        what: list.title,
        field: 'order',
        ours: side === 'ours' ? `${title} stands behind an older one` : null,
        theirs: side === 'theirs' ? `${title} stands behind an older one` : null,
        chain: side === 'ours' ? 'theirs' : 'ours',
        because: 'newest first is the order of the API',
      })
    }
  suspects.push(...waiting.ours.values(), ...waiting.theirs.values())
  if (suspects.length === 0) return
  await delay(settleMs)
  for (const row of suspects.slice(0, MOST_AGAIN)) {
    progress.show(shareOf(1), `${list.title}: looking at differences again`)
    await compareAgain(comparison, list, row)
  }
  findings.differenceCount += Math.max(0, suspects.length - MOST_AGAIN)
}

/** Notes the keys that only one of both has: their values can't be compared. */
function noteLonelyKeys(findings: Findings, name: string, { ours, theirs }: Pair<Row>): void {
  for (const key of Object.keys(ours))
    if (!(key in theirs)) findings.notes.add(`of some ${name} only our service tells ${key}`)
  for (const key of Object.keys(theirs))
    if (!(key in ours)) findings.notes.add(`of some ${name} only the other service tells ${key}`)
}

async function compareAgain(comparison: Comparison, list: ComparedList, row: Row): Promise<void> {
  const { ours, theirs } = await both(comparison.services, (service) => list.again(service, row))
  await compareRows(comparison, list, row, { ours, theirs })
}

/**
 * Compares what both tell of one row, and adds what differs.
 * @param row any that is about the same, for its title.
 */
export async function compareRows(
  { findings }: Comparison,
  list: Pick<ComparedList, 'titleOf' | 'passedOver' | 'judgeMissing' | 'judgeFields'>,
  row: Row,
  { ours, theirs }: Pair<Row | undefined>,
): Promise<void> {
  const what = list.titleOf(row)
  if (ours === undefined && theirs === undefined) return
  if (ours === undefined || theirs === undefined) {
    const [holder, held] = ours === undefined ? (['theirs', theirs!] as const) : (['ours', ours] as const)
    findings.add({
      what,
      field: 'row',
      ours: ours === undefined ? null : 'is there',
      theirs: theirs === undefined ? null : 'is there',
      ...(await list.judgeMissing(held, holder)),
    })
    return
  }
  const rows = { ours, theirs }
  const fields = differingFields(rows, list.passedOver)
  if (fields.length === 0) return
  const verdicts = await list.judgeFields(rows, fields)
  for (const field of fields)
    findings.add({
      what,
      field,
      ours: plain(ours[field]),
      theirs: plain(theirs[field]),
      ...(verdicts.get(field) ?? { chain: 'unknown', because: 'nothing on the chain tells' }),
    })
}
