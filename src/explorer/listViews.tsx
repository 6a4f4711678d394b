import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Bridge } from '../client/bridgeClient.js'
import { useWatch } from './changeWatch.js'
import {
  ActiveFilters,
  chosenNetwork,
  dayEdge,
  FilterBar,
  type FilterField,
  NetworkTabs,
  networkChoices,
  Pager,
} from './listFilters.js'
import { type LiveAnswer, useLive } from './liveAnswer.js'
import { goTo, type Place, withQuery } from './pageLocation.js'
import { api, networkName } from './pageSettings.js'
import { Empty, Failure, Link } from './pieces.js'
import { BridgeTable, ClaimTable, TableSkeleton, TokenTable } from './rowTables.js'
import { numberMeaning } from './words.js'

/** The lists of bridges, claims and tokens: one network at a time, every filter in the address. */

const PAGE_SIZE = 25

interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
  readonly next: string | null
}

const ORDER: FilterField = {
  name: 'order',
  label: 'Order',
  unset: 'Newest first',
  choices: [{ value: 'asc', label: 'Oldest first' }],
}

const bridgeFields: readonly FilterField[] = [
  { name: 'to', label: 'To', choices: networkChoices, isMain: true },
  {
    name: 'state',
    label: 'State',
    isMain: true,
    choices: [
      { value: 'ready', label: 'Ready to claim' },
      { value: 'waiting', label: 'Waiting' },
      { value: 'open', label: 'Not claimed' },
      { value: 'claimed', label: 'Claimed' },
    ],
  },
  {
    name: 'kind',
    label: 'Kind',
    isMain: true,
    choices: [
      { value: '0', label: 'Tokens' },
      { value: '1', label: 'Messages' },
    ],
  },
  { name: 'sender', label: 'Sender', type: 'address' },
  { name: 'receiver', label: 'Receiver', type: 'address' },
  { name: 'tx', label: 'Transaction', type: 'hash' },
  { name: 'since', label: 'Since (UTC)', type: 'date' },
  { name: 'until', label: 'Until (UTC)', type: 'date' },
  ORDER,
]

export function BridgesView({ place }: { readonly place: Place }): JSX.Element {
  const networkId = chosenNetwork(place)
  const get = (name: string): string | undefined => place.query.get(name) ?? undefined
  const state = get('state')
  const load = async (signal: AbortSignal): Promise<ListPage<Bridge>> => {
    const { bridges, pagination } = await api.getBridges(
      {
        networkId,
        pageSize: PAGE_SIZE,
        networkIds: numberOf(get('to')),
        leafType: numberOf(get('kind')),
        claimed: state === 'claimed' ? true : state === 'waiting' || state === 'open' ? false : undefined,
        readyForClaim: state === 'ready' ? true : state === 'waiting' ? false : undefined,
        fromAddress: get('sender'),
        toAddress: get('receiver'),
        txHash: get('tx'),
        fromTimestamp: dayEdge(place.query.get('since'), 'first'),
        toTimestamp: dayEdge(place.query.get('until'), 'last'),
        order: get('order') === 'asc' ? 'asc' : undefined,
        cursor: get('cursor'),
      },
      { signal },
    )
    return { rows: bridges, total: pagination.total, next: pagination.nextCursor }
  }
  const answer = useLive(`bridges?${place.query}`, load, { source: networkId })
  const { sync } = useWatch()
  const countOf = (id: number): number | undefined =>
    sync?.networks.find((network) => network.networkId === id)?.indexedDepositCount
  return (
    <>
      <ViewHead
        title="Bridges"
        text={
          <>
            What was sent, by the network that it left. Each has a number: {networkId}:25 is{' '}
            {numberMeaning(networkId, 25, networkName)}.
          </>
        }
      >
        <DepositJump networkId={networkId} />
      </ViewHead>
      <NetworkTabs place={place} chosen={networkId} countOf={countOf} label="From" />
      <FilterBar place={place} fields={bridgeFields} />
      <ListBody
        answer={answer}
        place={place}
        fields={bridgeFields}
        nothing={`Nothing has been sent from ${networkName(networkId)} yet.`}
        table={(rows, isOld) => (
          <BridgeTable rows={rows} caption={`Bridges from ${networkName(networkId)}`} isOld={isOld} />
        )}
      />
    </>
  )
}

const claimFields: readonly FilterField[] = [
  { name: 'from', label: 'From', choices: networkChoices, isMain: true },
  { name: 'receiver', label: 'Receiver', type: 'address', isMain: true },
  { name: 'claimer', label: 'Claimed by', type: 'address' },
  { name: 'tx', label: 'Transaction', type: 'hash' },
  ORDER,
]

export function ClaimsView({ place }: { readonly place: Place }): JSX.Element {
  const networkId = chosenNetwork(place)
  const get = (name: string): string | undefined => place.query.get(name) ?? undefined
  const answer = useLive(`claims?${place.query}`, async (signal) => {
    const { claims, pagination } = await api.getClaims(
      {
        networkId,
        pageSize: PAGE_SIZE,
        networkIds: numberOf(get('from')),
        fromAddress: get('claimer'),
        toAddress: get('receiver'),
        txHash: get('tx'),
        order: get('order') === 'asc' ? 'asc' : undefined,
        cursor: get('cursor'),
      },
      { signal },
    )
    return { rows: claims, total: pagination.total, next: pagination.nextCursor }
  })
  const { sync } = useWatch()
  const countOf = (id: number): number | undefined =>
    sync?.networks.find((network) => network.networkId === id)?.indexedClaimCount
  return (
    <>
      <ViewHead
        title="Claims made"
        text={
          <>
            Claims that are done, by the network where they were made. To claim a bridge yourself, open it:
            the <Link to="">overview</Link> counts those that are ready, and the search finds those of your
            address.
          </>
        }
      />
      <NetworkTabs place={place} chosen={networkId} countOf={countOf} label="On" />
      <FilterBar place={place} fields={claimFields} />
      <ListBody
        answer={answer}
        place={place}
        fields={claimFields}
        nothing={`Nothing has been claimed on ${networkName(networkId)} yet.`}
        table={(rows, isOld) => (
          <ClaimTable rows={rows} caption={`Claims on ${networkName(networkId)}`} isOld={isOld} />
        )}
      />
    </>
  )
}

const tokenFields: readonly FilterField[] = [
  { name: 'network', label: 'Wrapped on', choices: networkChoices, isMain: true },
  { name: 'home', label: 'Home network', choices: networkChoices, isMain: true },
  { name: 'token', label: 'Token, either side', type: 'address', isMain: true },
  ORDER,
]

export function TokensView({ place }: { readonly place: Place }): JSX.Element {
  const get = (name: string): string | undefined => place.query.get(name) ?? undefined
  const answer = useLive(`tokens?${place.query}`, async (signal) => {
    const { tokenMappings, pagination } = await api.getTokenMappings(
      {
        networkId: numberOf(get('network')),
        tokenNetwork: numberOf(get('home')),
        tokenAddress: get('token'),
        pageSize: PAGE_SIZE,
        order: get('order') === 'asc' ? 'asc' : undefined,
        cursor: get('cursor'),
      },
      { signal },
    )
    return { rows: tokenMappings, total: pagination.total, next: pagination.nextCursor }
  })
  return (
    <>
      <ViewHead
        title="Tokens"
        text="Tokens that were sent to another network, and what stands for them there."
      />
      <FilterBar place={place} fields={tokenFields} />
      <ListBody
        answer={answer}
        place={place}
        fields={tokenFields}
        nothing="No token has been wrapped yet."
        table={(rows, isOld) => <TokenTable rows={rows} caption="Tokens" isOld={isOld} />}
      />
    </>
  )
}

function ViewHead({
  title,
  text,
  children,
}: {
  readonly title: string
  readonly text: ComponentChildren
  readonly children?: JSX.Element
}): JSX.Element {
  return (
    <div class="head">
      <div>
        <h1>{title}</h1>
        <p class="muted">{text}</p>
      </div>
      {children}
    </div>
  )
}

function ListBody<Row>({
  answer,
  place,
  fields,
  nothing,
  table,
}: {
  readonly answer: LiveAnswer<ListPage<Row>>
  readonly place: Place
  readonly fields: readonly FilterField[]
  readonly nothing: string
  readonly table: (rows: readonly Row[], isOld: boolean) => JSX.Element
}): JSX.Element {
  const { data, failure, isOld } = answer
  const isFiltered = fields.some(({ name }) => name !== 'order' && place.query.has(name))
  return (
    <section aria-live="off">
      {failure === undefined ? null : <Failure failure={failure} />}
      {failure !== undefined && place.query.has('cursor') ? (
        <p>
          <Link to={withQuery(place, { cursor: undefined })}>Begin at the first page</Link>
        </p>
      ) : null}
      {data === undefined ? (
        failure === undefined ? (
          <TableSkeleton rows={8} />
        ) : null
      ) : data.rows.length > 0 ? (
        <>
          {table(data.rows, isOld)}
          <Pager place={place} rows={data.rows.length} total={data.total} next={data.next} />
        </>
      ) : isFiltered ? (
        <Empty title="Nothing matches these filters.">
          <p>Drop one to see more:</p>
          <ActiveFilters place={place} fields={fields} />
        </Empty>
      ) : (
        <Empty title={nothing} />
      )}
    </section>
  )
}

/** Goes to the bridge with a deposit count. */
function DepositJump({ networkId }: { readonly networkId: number }): JSX.Element {
  const [text, setText] = useState('')
  return (
    <form
      class="jump"
      onSubmit={(event) => {
        event.preventDefault()
        if (/^\d{1,10}$/.test(text.trim())) goTo(`bridge/${networkId}/${Number(text)}`)
      }}
    >
      <label class="field">
        <span>Go to bridge number</span>
        <input
          type="text"
          inputMode="numeric"
          autocomplete="off"
          placeholder="0"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Go</button>
    </form>
  )
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^\d{1,10}$/.test(text) ? undefined : Number(text)
}
