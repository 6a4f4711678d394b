import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Bridge, BridgeApiError, type SearchResult } from '../client/bridgeClient.js'
import { useLive } from './liveAnswer.js'
import { goTo } from './pageLocation.js'
import { api, networkName } from './pageSettings.js'
import { Chip, CopyButton, Empty, Failure, Hex, Link, Route } from './pieces.js'
import { BridgeTable, TableSkeleton } from './rowTables.js'
import { exactAmount, grouped, plainText, shortAmount } from './spelling.js'
import { knownToken, tokenKey, useTokenBook } from './tokenBook.js'
import { takenBack } from './words.js'

/** What is known of an address, a transaction, or anything else that was searched for. */

const SHOWN = 25

export function AddressView({ address }: { readonly address: string }): JSX.Element {
  const { data, failure } = useLive(`address/${address}`, async (signal) => {
    const { results } = await api.getSearch({ q: address }, { signal })
    const accounts = results.filter(({ type }) => type === 'address')
    const listOf = async (filter: 'fromAddress' | 'toAddress', claimed?: boolean) => {
      const lists = await Promise.all(
        receivers(accounts, filter, results).map(async (networkId) =>
          api.getBridges({ networkId, [filter]: address, claimed, pageSize: SHOWN }, { signal }),
        ),
      )
      return {
        rows: newestFirst(lists.flatMap(({ bridges }) => bridges)),
        total: lists.reduce((sum, { pagination }) => sum + pagination.total, 0),
      }
    }
    const [open, received, sent] = await Promise.all([
      listOf('toAddress', false),
      listOf('toAddress'),
      listOf('fromAddress'),
    ])
    const claimed = accounts.reduce((sum, { claimsMade = 0 }) => sum + claimsMade, 0)
    return { tokens: results.filter(({ type }) => type === 'token'), open, received, sent, claimed, accounts }
  })
  return (
    <>
      <div class="head">
        <div>
          <p class="muted">Address</p>
          <h1 class="mono long">
            {address}
            <CopyButton text={address} what="address" />
          </h1>
          <p class="muted">
            {data === undefined
              ? 'Asking the service…'
              : `${grouped(data.sent.total)} sent by it · ${grouped(data.received.total)} sent to it · ${grouped(data.claimed)} ${data.claimed === 1 ? 'claim' : 'claims'} made by it`}
          </p>
        </div>
      </div>
      {failure === undefined ? null : <Failure failure={failure} />}
      {data === undefined ? (
        failure === undefined ? (
          <TableSkeleton rows={8} />
        ) : null
      ) : (
        <>
          {data.tokens.length === 0 ? null : <TokenFacts tokens={data.tokens} />}
          {data.accounts.length === 0 && data.tokens.length === 0 ? (
            <Empty title="Nothing is known of this address.">
              <p>Nothing was sent by it or to it, and it claimed nothing, on the networks of this service.</p>
            </Empty>
          ) : null}
          {data.open.total === 0 ? null : (
            <section aria-labelledby="open">
              <h2 id="open">For this address, not claimed yet</h2>
              <Sums bridges={data.open.rows} />
              <BridgeTable rows={data.open.rows} caption="Bridges to this address that are not claimed yet" />
            </section>
          )}
          {data.received.total === 0 ? null : (
            <section aria-labelledby="received">
              <h2 id="received">Sent to this address</h2>
              <BridgeTable rows={data.received.rows} caption="Bridges to this address" />
              <More shown={data.received.rows.length} total={data.received.total} />
            </section>
          )}
          {data.sent.total === 0 ? null : (
            <section aria-labelledby="sent">
              <h2 id="sent">Sent by this address</h2>
              <BridgeTable rows={data.sent.rows} caption="Bridges from this address" />
              <More shown={data.sent.rows.length} total={data.sent.total} />
            </section>
          )}
        </>
      )}
    </>
  )
}

/** Source networks with bridges from or to the account. */
function receivers(
  accounts: readonly SearchResult[],
  filter: 'fromAddress' | 'toAddress',
  results: readonly SearchResult[],
): number[] {
  const count = filter === 'fromAddress' ? 'bridgesSent' : 'bridgesReceived'
  return results.length === 0
    ? []
    : accounts.filter((account) => (account[count] ?? 0) > 0).map(({ networkId }) => networkId)
}

function newestFirst(bridges: readonly Bridge[]): Bridge[] {
  return bridges.toSorted((a, b) => b.blockTimestamp - a.blockTimestamp).slice(0, SHOWN)
}

function More({ shown, total }: { readonly shown: number; readonly total: number }): JSX.Element | null {
  return total <= shown ? null : (
    <p class="muted">
      The newest {grouped(shown)} of {grouped(total)}. The list of <Link to="bridges">bridges</Link> has them
      all, network by network: filter it by this address.
    </p>
  )
}

/** What waits, summed by token. */
function Sums({ bridges }: { readonly bridges: readonly Bridge[] }): JSX.Element | null {
  const book = useTokenBook()
  const sums = new Map<string, { amount: bigint; decimals: number; symbol: string }>()
  for (const bridge of bridges) {
    const token = knownToken(bridge, book)
    if (token === undefined || bridge.amount === 0n) continue
    const key = tokenKey(bridge)
    const sum = sums.get(key) ?? { ...token, amount: 0n }
    sums.set(key, { ...sum, amount: sum.amount + bridge.amount })
  }
  if (sums.size === 0) return null
  return (
    <p class="sums">
      <span class="muted">Together</span>
      {[...sums].map(([key, { amount, decimals, symbol }]) => (
        <span key={key} title={`${exactAmount(amount, decimals)} ${symbol}`}>
          {shortAmount(amount, decimals)} <bdi class="symbol">{symbol}</bdi>
        </span>
      ))}
    </p>
  )
}

function TokenFacts({ tokens }: { readonly tokens: readonly SearchResult[] }): JSX.Element {
  return (
    <section aria-labelledby="token">
      <h2 id="token">It is a token</h2>
      <ul class="plain-list">
        {tokens.map((token) => (
          <li key={`${token.networkId}:${token.address}`}>
            <bdi class="symbol">{plainText(token.symbol ?? '') ?? 'Unnamed'}</bdi> of{' '}
            {networkName(token.tokenNetwork ?? 0)}{' '}
            <Hex value={token.tokenAddress ?? null} kind="address" networkId={token.tokenNetwork ?? 0} /> is,
            on {networkName(token.networkId)},{' '}
            <Hex value={token.address ?? null} kind="address" networkId={token.networkId} />
            {token.isCurrent === false ? ' (replaced since)' : ''}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A transaction, or a number that may name a bridge. A single bridge is shown at once. */
export function ResultsView({ q, title }: { readonly q: string; readonly title: string }): JSX.Element {
  const { data, failure } = useLive(
    `search?${q}`,
    async (signal) => (await api.getSearch({ q }, { signal })).results,
  )
  const bridges = data?.filter(({ type }) => type === 'bridge') ?? []
  const others = data?.filter(({ type }) => type === 'claim' || type === 'archived_bridge') ?? []
  const [only] = bridges
  useEffect(() => {
    if (
      bridges.length === 1 &&
      only !== undefined &&
      others.every(
        ({ depositCount, originNetwork }) =>
          depositCount === only.depositCount && originNetwork === only.originNetwork,
      )
    )
      goTo(`bridge/${only.originNetwork}/${only.depositCount}`, 'replace')
  })
  const isRefused = failure instanceof BridgeApiError && failure.status === 400
  return (
    <>
      <div class="head">
        <div>
          <p class="muted">{title}</p>
          <h1 class="mono long">
            {q}
            <CopyButton text={q} what={title.toLowerCase()} />
          </h1>
        </div>
      </div>
      {failure === undefined || isRefused ? null : <Failure failure={failure} />}
      {data === undefined && failure === undefined ? <TableSkeleton rows={3} /> : null}
      {isRefused || data?.length === 0 ? (
        <Empty title="This service knows nothing of it.">
          <p>
            It may be on a network that this service does not read, or in a block that has not been read. This
            page looks again by itself.
          </p>
        </Empty>
      ) : null}
      {data === undefined || data.length === 0 ? null : (
        <ul class="results">
          {[...bridges, ...others].map((result) => (
            <li
              key={`${result.type}:${result.networkId}:${result.originNetwork}:${result.depositCount}:${result.txHash}`}
              class="row"
            >
              <Chip {...resultWords[result.type as keyof typeof resultWords]} />
              <Link to={`bridge/${result.originNetwork}/${result.depositCount}`} class="whole mono">
                {result.originNetwork}:{result.depositCount}
              </Link>
              <ResultPlace result={result} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const resultWords = {
  bridge: { tone: 'ready', word: 'Bridge' },
  claim: { tone: 'good', word: 'Claim' },
  archived_bridge: takenBack,
} as const

function ResultPlace({ result }: { readonly result: SearchResult }): JSX.Element {
  if (result.type === 'claim') return <Route from={result.originNetwork ?? 0} to={result.networkId} />
  const name = networkName(result.networkId)
  if (result.type === 'archived_bridge')
    return <span>from {name}, which took it back. Another bridge may have its number now.</span>
  return <span>from {name}</span>
}
