import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Bridge, BridgeStatus, NetworkSync } from '../client/bridgeClient.js'
import { useWatch } from './changeWatch.js'
import { claimTime } from './claimTime.js'
import { DayChart } from './dayChart.js'
import { Icon } from './icons.js'
import { ChoiceField, namedNetwork, networkChoices } from './listFilters.js'
import { useLive } from './liveAnswer.js'
import { goTo, type Place, withQuery } from './pageLocation.js'
import { api, networkIds, networkName, pageNetwork } from './pageSettings.js'
import { Ago, Chip, Empty, Failure, Link, Route, useNowSec } from './pieces.js'
import { BridgeTable, type Column, DataTable, TableSkeleton } from './rowTables.js'
import { duration, grouped } from './spelling.js'
import { networkWords, nowSentence, numberMeaning, tellsReady } from './words.js'

/** Everything at a glance: networks, what waits between them, what was sent last. */

const NEWEST = 10
/** A table of all routes asks up to three questions for each: beyond those between eight networks it would be too many. */
const MOST_ROUTES = 8 * 7
/** So that an open page asks for routes at most eight times a second, whatever their number: services limit their clients. */
const ROUTE_MS = 375
/** Rows come and change at once; how many there are of a kind may be a moment older. */
const PAIRS_MS = 5_000
/** Each chart asks for thirty days. */
const MOST_CHARTS = 8
const MOST_LISTED = 12

export function OverviewView({ place }: { readonly place: Place }): JSX.Element {
  const { sync } = useWatch()
  const troubled = sync?.networks.filter((network) => networkWords(network, '').meaning !== undefined) ?? []
  // One network with what goes to it and from it, or all.
  const only = namedNetwork(place)
  const shown = only === undefined ? networkIds : [only]
  const routes = routesOf(only)
  const pairs = usePairs(only, routes)
  /** Bridges that can be claimed on networks whose state lets that be told. */
  const readyOn = (isMeant: (networkId: number) => boolean): number | undefined =>
    pairs.data
      ?.filter(
        ({ to }) => isMeant(to) && sync?.networks.some((one) => one.networkId === to && tellsReady(one)),
      )
      .reduce((sum, pair) => sum + pair.ready, 0)
  return (
    <>
      <div class="head">
        <div>
          <h1>{headline(sync?.networks, troubled.length)}</h1>
          <p class="muted">
            {sync === undefined
              ? 'Asking the service…'
              : summary(
                  sync.networks.filter(({ networkId }) => shown.includes(networkId)),
                  readyOn,
                )}
          </p>
          <p class="muted">A bridge is sent on one network, and what it carries is claimed on another.</p>
        </div>
        {networkIds.length < 2 ? null : (
          <ChoiceField
            label="Network"
            unset="All"
            choices={networkChoices}
            value={only === undefined ? '' : String(only)}
            onChange={(network) => goTo(withQuery(place, { network }))}
          />
        )}
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
          {shown.map((id) => (
            <NetworkTile
              key={id}
              networkId={id}
              sync={sync?.networks.find((network) => network.networkId === id)}
              hasChart={shown.length <= MOST_CHARTS}
              hasReady={routes.length <= MOST_ROUTES}
              ready={readyOn((to) => to === id)}
            />
          ))}
        </div>
      </section>
      {routes.length === 0 || routes.length > MOST_ROUTES ? null : (
        <PairsSection pairs={pairs} rows={Math.min(routes.length, NEWEST)} />
      )}
      <NewestSection key={only} only={only} />
    </>
  )
}

function headline(networks: readonly NetworkSync[] | undefined, troubled: number): string {
  if (networks === undefined) return 'Overview'
  if (troubled === 0) return 'Everything is up to date'
  return troubled === 1 ? 'One network needs attention' : `${troubled} networks need attention`
}

/** Each number with what it counts: of one network two are of what leaves it, and two of what arrives. */
function summary(
  networks: readonly NetworkSync[],
  readyOn: (isMeant: (networkId: number) => boolean) => number | undefined,
): string {
  const sum = (of: (network: NetworkSync) => number): string =>
    grouped(networks.reduce((total, network) => total + of(network), 0))
  const sent = sum(({ indexedDepositCount }) => indexedDepositCount)
  const claimed = sum(({ indexedClaimCount }) => indexedClaimCount)
  const [only] = networks
  if (networks.length !== 1 || only === undefined) {
    const ready = readyOn(() => true)
    return [
      `${networks.length} networks`,
      `${sent} bridges sent`,
      `${claimed} claims made`,
      ...(ready === undefined ? [] : [`${grouped(ready)} ready to claim now`]),
    ].join(' · ')
  }
  const name = networkName(only.networkId)
  const ready = readyOn((to) => to === only.networkId)
  const elsewhere = readyOn((to) => to !== only.networkId)
  return [
    `From ${name}: ${sent} sent${elsewhere === undefined ? '' : `, of which ${grouped(elsewhere)} can be claimed now`}`,
    `To ${name}: ${claimed} claimed${ready === undefined ? '' : `, ${grouped(ready)} can be claimed now`}`,
  ].join(' · ')
}

function NetworkTile({
  networkId,
  sync,
  hasChart,
  hasReady,
  ready,
}: {
  readonly networkId: number
  readonly sync: NetworkSync | undefined
  readonly hasChart: boolean
  /** Whether `ready` is asked for: until it is answered it is undefined. */
  readonly hasReady: boolean
  readonly ready: number | undefined
}): JSX.Element {
  const { rates } = useWatch()
  const words = sync === undefined ? undefined : networkWords(sync, networkName(networkId))
  return (
    <article class="tile">
      <header>
        <h3>
          <Link to={`bridges?network=${networkId}`}>{networkName(networkId)}</Link>
          {networkName(networkId) === `Network ${networkId}` ? null : (
            <span class="aside">network {networkId}</span>
          )}
        </h3>
        {words === undefined ? (
          <span class="chip quiet">…</span>
        ) : (
          <Chip tone={words.tone} word={words.word} />
        )}
      </header>
      <dl class="figures">
        <Figure name="Sent from here" value={sync?.indexedDepositCount} />
        <Figure name="Claimed here" value={sync?.indexedClaimCount} />
        {hasReady ? (
          <Figure name="Claimable here" value={sync === undefined || tellsReady(sync) ? ready : undefined} />
        ) : null}
      </dl>
      {hasChart ? <DayChart networkId={networkId} isWhole={sync?.isSynced} /> : null}
      <p class="foot muted">
        {sync === undefined ? (
          'Read up to block –'
        ) : (
          <>
            Read up to block {grouped(sync.syncedBlock)}
            <HeadAge sync={sync} />
          </>
        )}
      </p>
      {sync === undefined ||
      sync.isSynced ||
      sync.halted !== null ||
      sync.currentBlock <= sync.syncedBlock ? null : (
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

/** How far a network is behind where that matters; else how old its newest block is. */
function HeadAge({ sync }: { readonly sync: NetworkSync }): string | null {
  if (!sync.isSynced && sync.currentBlock > sync.syncedBlock) return ` of ${grouped(sync.currentBlock)}`
  return sync.headAgeSeconds === null ? null : `, the newest made ${duration(sync.headAgeSeconds)} ago`
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
  /** Of the oldest that waits. */
  readonly status: BridgeStatus | undefined
}

type RouteOfPair = Pick<Pair, 'from' | 'to'>

/** From and to each network, or only those that begin or end at one. */
function routesOf(only: number | undefined): readonly RouteOfPair[] {
  return networkIds
    .flatMap((from) => networkIds.map((to) => ({ from, to })))
    .filter(({ from, to }) => from !== to && (only === undefined || from === only || to === only))
}

function usePairs(only: number | undefined, routes: readonly RouteOfPair[]) {
  return useLive(
    routes.length > MOST_ROUTES ? undefined : `pairs/${only}`,
    async (signal): Promise<readonly Pair[]> => {
      const found = await Promise.all(
        routes.map(async ({ from, to }) => {
          const filter = { networkId: from, networkIds: to, pageSize: 1 }
          const [waiting, ready] = await Promise.all([
            api.getBridges({ ...filter, claimed: false, readyForClaim: false, order: 'asc' }, { signal }),
            api.getBridges({ ...filter, readyForClaim: true, order: 'asc' }, { signal }),
          ])
          const [oldestWaiting] = waiting.bridges
          const [oldest] = [...waiting.bridges, ...ready.bridges].sort(
            (a, b) => a.depositCount - b.depositCount,
          )
          if (oldest === undefined) return []
          const status =
            oldestWaiting === undefined
              ? undefined
              : (
                  await api.getBridgeStatus(
                    { networkId: from, depositCount: oldestWaiting.depositCount },
                    { signal },
                  )
                ).statuses[0]
          return [
            { from, to, waiting: waiting.pagination.total, ready: ready.pagination.total, oldest, status },
          ]
        }),
      )
      return found.flat().sort((a, b) => b.ready + b.waiting - a.ready - a.waiting)
    },
    { leastMs: Math.max(PAIRS_MS, ROUTE_MS * routes.length), follows: 'blocks' },
  )
}

function PairsSection({
  pairs: { data, failure },
  rows,
}: {
  readonly pairs: ReturnType<typeof usePairs>
  /** How many there may be, until it is known. */
  readonly rows: number
}): JSX.Element {
  return (
    <section aria-labelledby="pairs">
      <h2 id="pairs">Not claimed yet</h2>
      {failure === undefined ? null : <Failure failure={failure} />}
      {data === undefined ? (
        failure === undefined ? (
          <TableSkeleton rows={rows} />
        ) : null
      ) : data.length === 0 ? (
        <Empty title="Everything that was sent has been claimed." />
      ) : (
        <DataTable
          rows={data}
          caption="Bridges that are not claimed yet, by route"
          columns={pairColumns}
          keyOf={({ from, to }) => `${from}:${to}`}
        />
      )}
    </section>
  )
}

function PairCount({
  pair: { from, to },
  state,
  count,
}: {
  readonly pair: Pair
  readonly state: 'ready' | 'waiting'
  readonly count: number
}): JSX.Element {
  if (count === 0) return <span class="muted">0</span>
  return <Link to={`bridges?network=${from}&to=${to}&state=${state}`}>{grouped(count)}</Link>
}

/** What the oldest bridge that waits on a route waits for, and when it can be claimed. */
function Awaited({ status }: Pair): JSX.Element {
  const nowSec = useNowSec()
  if (status === undefined) return <span class="muted">–</span>
  return (
    <>
      {nowSentence(status, networkName)} {claimTime(status, nowSec, networkName)}
    </>
  )
}

const pairColumns: readonly Column<Pair>[] = [
  {
    name: 'Route',
    isHead: true,
    cell: ({ from, to }) => (
      <Link to={`bridges?network=${from}&to=${to}&state=open`} class="whole plain">
        <Route from={from} to={to} />
      </Link>
    ),
  },
  {
    name: 'Ready to claim',
    class: 'number',
    cell: (pair) => <PairCount pair={pair} state="ready" count={pair.ready} />,
  },
  {
    name: 'Waiting',
    class: 'number',
    cell: (pair) => <PairCount pair={pair} state="waiting" count={pair.waiting} />,
  },
  { name: 'The oldest of those waiting', class: 'text middle', cell: (pair) => <Awaited {...pair} /> },
  {
    name: 'Oldest one sent',
    class: 'number',
    cell: ({ from, oldest }) => (
      <Link to={`bridge/${from}/${oldest.depositCount}`}>
        <Ago at={oldest.blockTimestamp} />
      </Link>
    ),
  },
]

/** What a number such as 1:25 means, by the first that is shown. */
function NumberNote({ bridge: { originNetwork, depositCount } }: { readonly bridge: Bridge }): JSX.Element {
  return (
    <p class="muted note-line">
      <span class="mono">
        {originNetwork}:{depositCount}
      </span>{' '}
      is the bridge with {numberMeaning(originNetwork, depositCount, networkName)}.
    </p>
  )
}

function NewestSection({ only }: { readonly only: number | undefined }): JSX.Element {
  const lists = useRef(new Map<number, readonly Bridge[]>())
  const { data, failure } = useLive(`newest/${only}`, async (signal, touched) => {
    const sources = networkIds
      .toSorted((a, b) => Number(b === only) - Number(a === only))
      .slice(0, MOST_LISTED)
    await Promise.all(
      sources.map(async (networkId) => {
        if (touched?.has(networkId) === false) return
        const filter = { networkId, networkIds: only === networkId ? undefined : only, pageSize: NEWEST }
        lists.current.set(networkId, (await api.getBridges(filter, { signal })).bridges)
      }),
    )
    return [...lists.current.values()]
      .flat()
      .sort((a, b) => b.blockTimestamp - a.blockTimestamp)
      .slice(0, NEWEST)
  })
  const [isPaused, setPaused] = useState(false)
  return (
    <section
      aria-labelledby="newest"
      onPointerEnter={(event) => {
        if (event.pointerType === 'mouse') setPaused(true)
      }}
      onPointerLeave={() => setPaused(false)}
    >
      <h2 id="newest">
        Newest bridges
        {networkIds.length > MOST_LISTED ? (
          <span class="aside">
            of {only === undefined ? `the first ${MOST_LISTED} networks` : `${MOST_LISTED} networks`}
          </span>
        ) : null}
        {isPaused ? <span class="aside">held while you point at them</span> : null}
      </h2>
      {failure === undefined ? null : <Failure failure={failure} />}
      {data === undefined ? (
        failure === undefined ? (
          <TableSkeleton rows={NEWEST} />
        ) : null
      ) : data.length === 0 ? (
        <Empty title="Nothing has been sent yet." />
      ) : (
        <>
          <BridgeTable rows={data} caption="The newest bridges" isHeld={isPaused} />
          <NumberNote bridge={data[0]!} />
        </>
      )}
    </section>
  )
}
