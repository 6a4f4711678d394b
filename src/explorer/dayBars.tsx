import type { JSX } from 'preact'
import { clientClock } from '../client/waits.js'
import { useLive } from './liveAnswer.js'
import { api } from './pageSettings.js'
import { grouped } from './spelling.js'

/** Bridges per day of one network, as bars. */

const DAYS = 14
const DAY_SEC = 86_400

/** Counts of days that are over, by network and first second: they are asked for once. */
const kept = new Map<string, Promise<number>>()

function countOf(networkId: number, fromTimestamp: number, signal?: AbortSignal): Promise<number> {
  return api
    .getBridges(
      { networkId, pageSize: 1, fromTimestamp, toTimestamp: fromTimestamp + DAY_SEC - 1 },
      { signal },
    )
    .then(({ pagination }) => pagination.total)
}

function pastCount(networkId: number, fromTimestamp: number): Promise<number> {
  const key = `${networkId}:${fromTimestamp}`
  const found = kept.get(key)
  if (found !== undefined) return found
  const asked = countOf(networkId, fromTimestamp)
  kept.set(key, asked)
  asked.catch(() => kept.delete(key))
  return asked
}

export function DayBars({ networkId }: { readonly networkId: number }): JSX.Element {
  const { data } = useLive(`days/${networkId}`, async (signal) => {
    const today = Math.floor(clientClock.unixMs() / 1000 / DAY_SEC) * DAY_SEC
    const days = Array.from({ length: DAYS }, (_, at) => today - (DAYS - 1 - at) * DAY_SEC)
    const counts = await Promise.all(
      days.map((day) => (day === today ? countOf(networkId, day, signal) : pastCount(networkId, day))),
    )
    return days.map((day, at) => ({
      day: new Date(day * 1000).toISOString().slice(0, 10),
      count: counts[at]!,
    }))
  })
  const most = Math.max(1, ...(data ?? []).map(({ count }) => count))
  return (
    <figure class="days">
      <ol>
        {(data ?? []).map(({ day, count }) => (
          <li key={day} title={`${day}: ${grouped(count)} sent`}>
            <span
              class="column"
              style={{ height: `${count === 0 ? 0 : Math.max(6, (100 * count) / most)}%` }}
            />
            <span class="unseen">
              {day}: {grouped(count)} sent
            </span>
          </li>
        ))}
      </ol>
      <figcaption>
        <span>Sent per day</span>
        <span>{data === undefined ? '' : `14 days, at most ${grouped(most)}`}</span>
      </figcaption>
    </figure>
  )
}
