import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Bridge, NetworkSync } from '../client/bridgeClient.js'
import { BridgeTable, TableSkeleton } from './bridgeTable.js'
import { useWatch } from './changeWatch.js'
import { DayBars } from './dayBars.js'
import { Icon } from './icons.js'
import { useLive } from './liveAnswer.js'
import { api, networkIds, networkName, pageNetwork } from './pageSettings.js'
import { Ago, Chip, Empty, Failure, Link, Route } from './pieces.js'
import { duration, grouped } from './spelling.js'
import { networkWords } from './words.js'

/** Everything at a glance: networks, what waits between them, what was sent last. */

const NEWEST = 10
/** A table of all pairs asks two questions for each: beyond that it would be too many. */
const MOST_PAIRED = 8
const MOST_LISTED = 12

export function OverviewView(): JSX.Element {
  const { sync } = useWatch()
  const troubled = sync?.networks.filter((network) => networkWords(network, '').meaning !== undefined) ?? []
  const pairs = usePairs()
  const ready = pairs.data?.reduce((sum, pair) => sum + pair.ready, 0)
  return (
    <>
      <div class="head">
        <div>
          <h1>{headline(sync?.networks, troubled.length)}</h1>
          <p class="muted">{summary(sync?.networks, ready)}</p>
        </div>
      </div>
      {troubled.length === 0 ? null : (
        <ul class="incidents">
          {troubled.map((network) => {
            const { tone, word, meaning } = networkWords(network, networkName(network.networkId))
            return (
              <li key={network.networkId} class={`note ${tone}`}>
                <Icon name={tone === 'quiet' ? 'dash' : 'warn'} />
                <div>
                  <strong>
                    {networkName(network.networkId)}: {word.toLowerCase()}
                  </strong>
                  <p>{meaning}</p>
                </div>
              </li>
            )
          })}
        </ul>
      )}
      <section aria-labelledby="networks">
        <h2 id="networks">Networks</h2>
        <div class="tiles">
          {networkIds.map((id) => (
            <NetworkTile
              key={id}
              networkId={id}
              sync={sync?.networks.find((network) => network.networkId === id)}
              ready={pairs.data?.filter(({ to }) => to === id).reduce((sum, pair) => sum + pair.ready, 0)}
            />
          ))}
        </div>
      </section>
      {networkIds.length > MOST_PAIRED ? null : <PairsSection pairs={pairs} />}
      <NewestSection />
    </>
  )
}

function headline(networks: readonly NetworkSync[] | undefined, troubled: number): string {
  if (networks === undefined) return 'Overview'
  if (troubled === 0) return 'Everything is up to date'
  return troubled === 1 ? 'One network needs attention' : `${troubled} networks need attention`
}

function summary(networks: readonly NetworkSync[] | undefined, ready: number | undefined): string {
  if (networks === undefined) return 'Asking the service…'
  const sum = (of: (network: NetworkSync) => number): string =>
    grouped(networks.reduce((total, network) => total + of(network), 0))
  const parts = [
    `${networks.length} networks`,
    `${sum(({ indexedDepositCount }) => indexedDepositCount)} bridges`,
    `${sum(({ indexedClaimCount }) => indexedClaimCount)} claims`,
    ...(ready === undefined ? [] : [`${grouped(ready)} ready to claim`]),
  ]
  return parts.join(' · ')
}

function NetworkTile({
  networkId,
  sync,
  ready,
}: {
  readonly networkId: number
  readonly sync: NetworkSync | undefined
  readonly ready: number | undefined
}): JSX.Element {
  const { rates } = useWatch()
  const words = sync === undefined ? undefined : networkWords(sync, networkName(networkId))
  return (
    <article class="tile">
      <header>
        <h3>
          <Link to={`bridges?network=${networkId}`}>{networkName(networkId)}</Link>
        </h3>
        {words === undefined ? (
          <span class="chip quiet">…</span>
        ) : (
          <Chip tone={words.tone} word={words.word} />
        )}
      </header>
      <dl class="figures">
        <Figure name="Sent" value={sync?.indexedDepositCount} />
        <Figure name="Claimed" value={sync?.indexedClaimCount} />
        {networkIds.length > MOST_PAIRED ? null : <Figure name="Ready here" value={ready} />}
      </dl>
      {networkIds.length > MOST_PAIRED ? null : <DayBars networkId={networkId} />}
      <p class="foot muted">
        {sync === undefined ? (
          'Block –'
        ) : (
          <>
            Block {grouped(sync.syncedBlock)}
            <HeadAge sync={sync} />
          </>
        )}
      </p>
      {sync === undefined || sync.isSynced || sync.currentBlock <= sync.syncedBlock ? null : (
        <Progress sync={sync} start={pageNetwork(networkId)?.startBlock ?? 0} rate={rates.get(networkId)} />
      )}
    </article>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: number | undefined }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === undefined ? '–' : grouped(value)}</dd>
    </div>
  )
}

function HeadAge({ sync }: { readonly sync: NetworkSync }): JSX.Element {
  const behind = sync.currentBlock - sync.syncedBlock
  return (
    <>
      {sync.headAgeSeconds === null ? null : <> · head {duration(sync.headAgeSeconds)} old</>}
      {behind > 0 ? <> · {grouped(behind)} behind</> : null}
    </>
  )
}

/** Of a network that is still read: how much of it, how fast, how long to go. */
function Progress({
  sync,
  start,
  rate,
}: {
  readonly sync: NetworkSync
  readonly start: number
  readonly rate: number | undefined
}): JSX.Element {
  const part = Math.max(0, Math.min(1, (sync.syncedBlock - start) / Math.max(1, sync.currentBlock - start)))
  const left = sync.currentBlock - sync.syncedBlock
  return (
    <div class="progress">
      <progress max={1} value={part} aria-label="Read so far" />
      <span class="muted">
        {Math.floor(part * 100)} %
        {rate === undefined || rate < 1
          ? ''
          : `, ${grouped(Math.round(rate))} blocks a second, about ${duration(left / rate)} to go`}
      </span>
    </div>
  )
}

/** What waits between two networks. */
interface Pair {
  readonly from: number
  readonly to: number
  readonly waiting: number
  readonly ready: number
  readonly oldest: Bridge
}

function usePairs() {
  return useLive(
    networkIds.length > MOST_PAIRED ? undefined : 'pairs',
    async (signal): Promise<readonly Pair[]> => {
      const pairs = networkIds.flatMap((from) =>
        networkIds.filter((to) => to !== from).map((to) => ({ from, to })),
      )
      const found = await Promise.all(
        pairs.map(async ({ from, to }) => {
          const filter = { networkId: from, networkIds: to, pageSize: 1 }
          const [open, ready] = await Promise.all([
            api.getBridges({ ...filter, claimed: false, order: 'asc' }, { signal }),
            api.getBridges({ ...filter, readyForClaim: true }, { signal }),
          ])
          const [oldest] = open.bridges
          if (oldest === undefined) return []
          const isReady = ready.pagination.total
          return [{ from, to, waiting: open.pagination.total - isReady, ready: isReady, oldest }]
        }),
      )
      return found.flat().sort((a, b) => b.ready + b.waiting - a.ready - a.waiting)
    },
  )
}

function PairsSection({
  pairs: { data, failure },
}: {
  readonly pairs: ReturnType<typeof usePairs>
}): JSX.Element {
  return (
    <section aria-labelledby="pairs">
      <h2 id="pairs">Not claimed yet</h2>
      {failure === undefined ? null : <Failure failure={failure} />}
      {data === undefined ? (
        failure === undefined ? (
          <TableSkeleton rows={networkIds.length} />
        ) : null
      ) : data.length === 0 ? (
        <Empty title="Everything that was sent has been claimed." />
      ) : (
        <div class="table">
          <table>
            <caption class="unseen">Bridges that are not claimed yet, by route</caption>
            <thead>
              <tr>
                <th scope="col">Route</th>
                <th scope="col" class="number">
                  Ready to claim
                </th>
                <th scope="col" class="number">
                  Waiting
                </th>
                <th scope="col" class="number">
                  Oldest sent
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map((pair) => (
                <PairRow key={`${pair.from}:${pair.to}`} pair={pair} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function PairRow({ pair: { from, to, waiting, ready, oldest } }: { readonly pair: Pair }): JSX.Element {
  const list = (state: string): string => `bridges?network=${from}&to=${to}&state=${state}`
  return (
    <tr class="row">
      <td>
        <Link to={list('open')} class="whole plain">
          <Route from={from} to={to} />
        </Link>
      </td>
      <td class="number" data-label="Ready to claim">
        {ready === 0 ? <span class="muted">0</span> : <Link to={list('ready')}>{grouped(ready)}</Link>}
      </td>
      <td class="number" data-label="Waiting">
        {waiting === 0 ? <span class="muted">0</span> : <Link to={list('waiting')}>{grouped(waiting)}</Link>}
      </td>
      <td class="number" data-label="Oldest sent">
        <Link to={`bridge/${from}/${oldest.depositCount}`}>
          <Ago at={oldest.blockTimestamp} />
        </Link>
      </td>
    </tr>
  )
}

function NewestSection(): JSX.Element {
  const listed = networkIds.slice(0, MOST_LISTED)
  const { data, failure } = useLive('newest', async (signal) => {
    const lists = await Promise.all(
      listed.map(
        async (networkId) => (await api.getBridges({ networkId, pageSize: NEWEST }, { signal })).bridges,
      ),
    )
    return lists
      .flat()
      .sort((a, b) => b.blockTimestamp - a.blockTimestamp)
      .slice(0, NEWEST)
  })
  const [isPaused, setPaused] = useState(false)
  const held = useRef(data)
  if (!isPaused) held.current = data
  const shown = held.current
  return (
    <section
      aria-labelledby="newest"
      onPointerEnter={(event) => {
        if (event.pointerType === 'mouse') setPaused(true)
      }}
      onPointerLeave={() => setPaused(false)}
    >
      <h2 id="newest">
        Newest bridges {isPaused && shown !== data ? <span class="aside">held while you look</span> : null}
      </h2>
      {failure === undefined ? null : <Failure failure={failure} />}
      {shown === undefined ? (
        failure === undefined ? (
          <TableSkeleton rows={NEWEST} />
        ) : null
      ) : shown.length === 0 ? (
        <Empty title="Nothing has been sent yet." />
      ) : (
        <BridgeTable bridges={shown} caption="The newest bridges of all networks" />
      )}
    </section>
  )
}
