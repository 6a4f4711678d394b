import type { JSX } from 'preact'
import { clientClock } from '../client/waits.js'
import { useLive } from './liveAnswer.js'
import { api, networkName } from './pageSettings.js'
import { grouped } from './spelling.js'

/**
 * Bridges per day of one network, as bars, with the same figures as a table for whoever does not see them. Thirty bars are thirty rectangles:
 * a library for charts would be longer than all the rest of the page.
 */

const DAYS = 30
const DAY_SEC = 86_400
/** A day is over for good so long after its end: its last blocks may be read late. */
const GRACE_SEC = 3_600
/** Bars come after rows: a browser asks one host six questions at a time. */
const AT_ONCE = 2
/** A bar for today need not grow with each bridge. */
const LEAST_MS = 5_000
const HEIGHT = 40
const BAR = 3
const STEP = 4

interface Day {
  /** `2026-01-31`. */
  readonly day: string
  readonly count: number
}

/** Counts of days that are over, by network and first second: they are asked for once. */
const kept = new Map<string, number>()

async function countOf(
  networkId: number,
  fromSec: number,
  nowSec: number,
  signal: AbortSignal,
): Promise<number> {
  const key = `${networkId}:${fromSec}`
  const found = kept.get(key)
  if (found !== undefined) return found
  const toTimestamp = fromSec + DAY_SEC - 1
  const { pagination } = await api.getBridges(
    { networkId, pageSize: 1, fromTimestamp: fromSec, toTimestamp },
    { signal },
  )
  if (toTimestamp + GRACE_SEC < nowSec) kept.set(key, pagination.total)
  return pagination.total
}

async function daysOf(networkId: number, signal: AbortSignal): Promise<readonly Day[]> {
  const nowSec = Math.floor(clientClock.unixMs() / 1000)
  const today = nowSec - (nowSec % DAY_SEC)
  const starts = Array.from({ length: DAYS }, (_, at) => today - (DAYS - 1 - at) * DAY_SEC)
  const counts = starts.map(() => 0)
  const left = starts.entries()
  const askAll = async (): Promise<void> => {
    for (const [at, start] of left) counts[at] = await countOf(networkId, start, nowSec, signal)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askAll))
  return starts.map((start, at) => ({
    day: new Date(start * 1000).toISOString().slice(0, 10),
    count: counts[at]!,
  }))
}

/**
 * @param isWhole whether the network has been read up to its head: before that the counts would be wrong a moment later. Undefined while nobody
 * knows.
 */
export function DayChart({
  networkId,
  isWhole,
}: {
  readonly networkId: number
  readonly isWhole: boolean | undefined
}): JSX.Element {
  const { data: days = [] } = useLive(
    isWhole === true ? `days/${networkId}` : undefined,
    (signal) => daysOf(networkId, signal),
    { leastMs: LEAST_MS, source: networkId },
  )
  const most = days.reduce((highest, { count }) => Math.max(highest, count), 0)
  const sum = days.reduce((total, { count }) => total + count, 0)
  return (
    <figure class="days">
      <figcaption>
        <span>Sent per day</span>
        <span>
          {days.length > 0
            ? `${grouped(sum)} in ${DAYS} days${most === 0 ? '' : `, busiest day ${grouped(most)}`}`
            : isWhole === false
              ? 'counted once it is up to date'
              : ''}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${DAYS * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, count }, at) => {
          const height = count === 0 ? 0 : Math.max(2, (HEIGHT * count) / most)
          return (
            <g key={day}>
              <title>{`${day}: ${grouped(count)} sent`}</title>
              <rect class="space" x={at * STEP} width={STEP} height={HEIGHT} />
              <rect x={at * STEP + (STEP - BAR) / 2} y={HEIGHT - height} width={BAR} height={height} />
            </g>
          )
        })}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{days[0] === undefined ? '' : shortDay(days[0].day)}</span>
        <span>{days.length === 0 ? '' : 'today (UTC)'}</span>
      </p>
      <div class="unseen">
        <table>
          <caption>Bridges from {networkName(networkId)}, by day in UTC</caption>
          <tbody>
            {days.map(({ day, count }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td>{grouped(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

/** `2026-01-31` → `31 Jan`. */
function shortDay(day: string): string {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  return `${Number(day.slice(8))} ${months[Number(day.slice(5, 7)) - 1]}`
}
