import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Bridge, BridgeApiError, type BridgeStage, type BridgeStatus } from '../client/bridgeClient.js'
import { useWatch } from './changeWatch.js'
import { ClaimPanel } from './claimPanel.js'
import { claimTime, type Forecast, forecast, stageTime, whyNoTime } from './claimTime.js'
import { EarlierBridges, useEarlier } from './earlierBridges.js'
import { Icon, type IconName } from './icons.js'
import { useLive } from './liveAnswer.js'
import { api, apiUrl, networkIds, networkName } from './pageSettings.js'
import { Ago, Chip, CopyButton, Empty, Failure, Hex, Mono, useNowSec } from './pieces.js'
import { ProofPanel } from './proofPanel.js'
import { bytesOf, duration, exactAmount, exactTime, grouped, readableText } from './spelling.js'
import { Amount, knownToken, useTokenBook } from './tokenBook.js'
import {
  bridgeState,
  bridgeStates,
  nowSentence,
  numberMeaning,
  type StageName,
  stageMeanings,
  stageTitle,
  takenBack,
} from './words.js'

/** Between two looks for the token on the other side, which is made once. */
const MAPPING_MS = 30_000

/** One bridge: what it is, what it waits for, what can be done. */
export function BridgeView({
  networkId,
  depositCount,
}: {
  readonly networkId: number
  readonly depositCount: number
}): JSX.Element {
  const { data, failure } = useLive(
    `bridge/${networkId}/${depositCount}`,
    async (signal) => {
      const [{ bridges }, { statuses }] = await Promise.all([
        api.getBridges({ networkId, depositCount }, { signal }),
        api.getBridgeStatus({ networkId, depositCount }, { signal }),
      ])
      const [bridge] = bridges
      const [status] = statuses
      return bridge === undefined || status === undefined ? undefined : { bridge, status }
    },
    { follows: 'blocks' },
  )
  if (failure instanceof BridgeApiError && (failure.status === 404 || failure.status === 400))
    return <Missing networkId={networkId} depositCount={depositCount} />
  return (
    <>
      {data === undefined ? (
        <h1 class="unseen">
          Bridge {networkId}:{depositCount}
        </h1>
      ) : null}
      {failure === undefined ? null : <Failure failure={failure} />}
      {data === undefined ? failure === undefined ? <Skeleton /> : null : <Found {...data} />}
    </>
  )
}

function Missing({
  networkId,
  depositCount,
}: {
  readonly networkId: number
  readonly depositCount: number
}): JSX.Element {
  const earlier = useEarlier(networkId, depositCount)
  const { sync } = useWatch()
  if (!networkIds.includes(networkId))
    return <Empty title={`This service does not read network ${grouped(networkId)}.`} isView />
  const sent = sync?.networks.find((network) => network.networkId === networkId)?.indexedDepositCount
  if (earlier !== undefined && earlier.sent.length > 0)
    return (
      <>
        <div class="head">
          <div>
            <h1>
              Bridge {networkId}:{depositCount}
            </h1>
            <p class="sentence">
              <Chip {...takenBack} />{' '}
              <span>
                {networkName(networkId)} took it back, so no list has it any more.
                {earlier.claimedOn === undefined
                  ? ''
                  : ` It had been claimed on ${networkName(earlier.claimedOn)}; what was paid out stays paid.`}
              </span>
            </p>
          </div>
        </div>
        <EarlierBridges transactions={earlier.sent} networkId={networkId} />
      </>
    )
  return (
    <Empty
      title={`There is no bridge number ${grouped(depositCount)} from ${networkName(networkId)}.`}
      isView
    >
      {sent === undefined ? null : (
        <p>
          {sent === 0
            ? 'Nothing has been sent from there so far.'
            : sent === 1
              ? 'One bridge has been sent from there so far: number 0.'
              : `${grouped(sent)} bridges have been sent from there so far: numbers 0 to ${grouped(sent - 1)}.`}
        </p>
      )}
      <p>
        If this one was sent a moment ago, this page shows it as soon as its block has been read. If it was
        here before, its network has replaced the block that it was in.
      </p>
    </Empty>
  )
}

function Skeleton(): JSX.Element {
  return (
    <div aria-busy="true">
      <p class="unseen">Loading</p>
      <div class="skeleton title" />
      <div class="skeleton panel" />
    </div>
  )
}

function Found({ bridge, status }: { readonly bridge: Bridge; readonly status: BridgeStatus }): JSX.Element {
  const nowSec = useNowSec()
  const earlier = useEarlier(bridge.originNetwork, bridge.depositCount)?.sent ?? []
  const current = status.stages.find(({ stage, state }) => stage === status.currentStage && state !== 'done')
  const isOver = status.claimTxHash !== null
  const times = forecast(status, nowSec)
  const when = claimTime(status, nowSec, networkName)
  return (
    <>
      <div class="head bridge">
        <div>
          <p class="muted">
            Bridge{' '}
            <span class="mono">
              {bridge.originNetwork}:{bridge.depositCount}
            </span>
            , {numberMeaning(bridge.originNetwork, bridge.depositCount, networkName)}
          </p>
          <h1>
            <Content bridge={bridge} /> from {networkName(bridge.originNetwork)} to{' '}
            {networkName(bridge.destinationNetwork)}
          </h1>
          <p class="sentence">
            <Chip {...bridgeStates[bridgeState(bridge)]} />{' '}
            <span>
              {nowSentence(status, networkName)}{' '}
              {when === undefined ? whyNoTime(status, nowSec, networkName) : <strong>{when}</strong>}
            </span>
          </p>
        </div>
      </div>
      <div class="columns">
        <section aria-labelledby="way" class="panel">
          <h2 id="way">Progress</h2>
          <ol class="way">
            {status.stages.map((stage) => (
              <Stage key={stage.stage} stage={stage} times={times} isCurrent={stage === current && !isOver} />
            ))}
          </ol>
        </section>
        <div class="stack">
          {bridgeState(bridge) === 'ready' ? <ClaimPanel bridge={bridge} /> : null}
          {earlier.length === 0 ? null : (
            <EarlierBridges transactions={earlier} networkId={bridge.originNetwork} bridge={bridge} />
          )}
          <Parties bridge={bridge} />
          <MessageData bridge={bridge} />
          {status.l1InfoTreeIndex === null ? null : <ProofPanel bridge={bridge} />}
          <ForPrograms bridge={bridge} />
        </div>
      </div>
    </>
  )
}

/** From when the usual time of a stage counts. */
const SINCE: { readonly [S in StageName]?: string } = {
  bridged: 'from when it was sent',
  in_l1_info_tree: 'from its record on layer 1',
  injected: 'from when the destination knew of it',
}

/** What was sent, as the head of the page. */
function Content({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  if (bridge.leafType === 0) return <Amount {...bridge} />
  if (bridge.amount === 0n) return <>A message</>
  return (
    <>
      <Amount {...bridge} /> and a message
    </>
  )
}

function Stage({
  stage,
  times,
  isCurrent,
}: {
  readonly stage: BridgeStage
  readonly times: Forecast
  readonly isCurrent: boolean
}): JSX.Element {
  const { blockTimestamp, blockNumber, txHash, networkId, typical, state } = stage
  const kind =
    state === 'done'
      ? 'done'
      : state === 'waiting'
        ? isCurrent
          ? 'now'
          : 'next'
        : state === 'unknown'
          ? 'next'
          : 'bad'
  const icon: IconName =
    kind === 'done' ? 'check' : kind === 'bad' ? 'cross' : kind === 'now' ? 'clock' : 'dash'
  const when = kind === 'done' ? undefined : stageTime(stage, isCurrent, times)
  return (
    <li class={kind} {...(isCurrent ? { 'aria-current': 'step' as const } : {})}>
      <span class="mark">
        <Icon name={icon} />
      </span>
      <div>
        <p class="what">
          <strong>{stageTitle(stage, networkName)}</strong>
          <span class="muted">{blockTimestamp === undefined ? when : <Ago at={blockTimestamp} />}</span>
        </p>
        <details>
          <summary>Details</summary>
          <p class="muted">{stageMeanings[stage.stage]}</p>
          <dl class="facts">
            <Fact name="Network">{networkName(networkId)}</Fact>
            {blockNumber === undefined ? null : <Fact name="Block">{grouped(blockNumber)}</Fact>}
            {blockTimestamp === undefined ? null : <Fact name="Time">{exactTime(blockTimestamp)}</Fact>}
            {txHash === undefined ? null : (
              <Fact name="Transaction">
                <Hex value={txHash} kind="transaction" networkId={networkId} />
              </Fact>
            )}
            {stage.l1InfoTreeIndex === undefined ? null : (
              <Fact name="L1 info leaf">{grouped(stage.l1InfoTreeIndex)}</Fact>
            )}
            {stage.globalExitRoot === undefined ? null : (
              <Fact name="Global exit root">
                <Mono value={stage.globalExitRoot} what="global exit root" />
              </Fact>
            )}
            {typical === undefined ? null : (
              <Fact name="Usually takes">
                {duration(typical.medianSeconds)} {SINCE[typical.since]}; nine of ten bridges no more than{' '}
                {duration(typical.p90Seconds)} (the last {grouped(typical.sampleSize)} on this route)
              </Fact>
            )}
          </dl>
        </details>
      </div>
    </li>
  )
}

function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The token on the side where it arrives; undefined for coins, and where the destination has none for it yet. */
function useReceivedToken({
  destinationNetwork,
  tokenNetwork,
  tokenAddress,
  leafType,
}: Bridge): string | undefined {
  const isToken = leafType === 0 && !/^0x0{40}$/.test(tokenAddress)
  const isHome = isToken && tokenNetwork === destinationNetwork
  const isServed = networkIds.includes(destinationNetwork)
  const { data } = useLive(
    isToken && !isHome && isServed
      ? `received/${destinationNetwork}/${tokenNetwork}/${tokenAddress}`
      : undefined,
    async (signal) => {
      const { tokenMappings } = await api.getTokenMappings(
        { networkId: destinationNetwork, tokenNetwork, tokenAddress },
        { signal },
      )
      return tokenMappings.find(({ isCurrent }) => isCurrent)?.wrappedTokenAddress
    },
    { leastMs: MAPPING_MS },
  )
  return isHome ? tokenAddress : data
}

function Parties({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const token = knownToken(bridge, useTokenBook())
  const { originNetwork, destinationNetwork, tokenNetwork, tokenAddress, leafType, amount } = bridge
  const received = useReceivedToken(bridge)
  return (
    <section aria-labelledby="parties" class="panel">
      <h2 id="parties">What was sent</h2>
      <dl class="facts">
        <Fact name="Kind">
          {leafType === 0
            ? 'Tokens'
            : amount === 0n
              ? 'A message to a contract'
              : 'A message to a contract, with an amount'}
        </Fact>
        <Fact name="Amount">
          {leafType === 1 && amount === 0n ? (
            'None: it carries a message only'
          ) : (
            <span class="hex">
              <Amount {...bridge} />
              <CopyButton
                text={exactAmount(amount, token?.decimals ?? 0).replaceAll(',', '')}
                what="exact amount"
              />
            </span>
          )}
        </Fact>
        <Fact name="Sender">
          <Hex value={bridge.originAddress} kind="address" networkId={originNetwork} />
        </Fact>
        <Fact name="Receiver">
          <Hex value={bridge.destinationAddress} kind="address" networkId={destinationNetwork} />
        </Fact>
        {leafType === 0 ? (
          <Fact name="Token">
            {/^0x0{40}$/.test(tokenAddress) ? (
              <>The native coin of {networkName(tokenNetwork)}</>
            ) : (
              <span class="place">
                <span>
                  {token === undefined ? null : <bdi class="symbol">{token.symbol}</bdi>} of{' '}
                  {networkName(tokenNetwork)}
                </span>
                <Hex value={tokenAddress} kind="address" networkId={tokenNetwork} />
              </span>
            )}
          </Fact>
        ) : null}
        {received === undefined ? null : (
          <Fact name="Arrives as">
            <span class="place">
              <span>Token on {networkName(destinationNetwork)}</span>
              <Hex value={received} kind="address" networkId={destinationNetwork} />
            </span>
          </Fact>
        )}
        <Fact name="Transaction">
          <Hex value={bridge.txHash} kind="transaction" networkId={originNetwork} />
        </Fact>
        {bridge.claimTxHash === null ? null : (
          <Fact name={bridge.claimMatches === false ? 'Older claim' : 'Claim transaction'}>
            <Hex value={bridge.claimTxHash} kind="transaction" networkId={destinationNetwork} />
          </Fact>
        )}
        <Fact name="Global index">
          <Mono value={`0x${bridge.globalIndex.toString(16)}`} what="global index" />
        </Fact>
      </dl>
    </section>
  )
}

const SHOWN_BYTES = 256

/** What a message says. The metadata of tokens are their name and decimals, which are shown above. */
function MessageData({ bridge }: { readonly bridge: Bridge }): JSX.Element | null {
  const [isWhole, setWhole] = useState(false)
  if (bridge.leafType !== 1) return null
  const { metadata, metadataLength } = bridge
  const bytes = metadata === null ? undefined : bytesOf(metadata)
  const text = bytes === undefined ? undefined : readableText(bytes)
  const spelled = text ?? metadata ?? ''
  const limit = text === undefined ? 2 + 2 * SHOWN_BYTES : SHOWN_BYTES
  const isLong = spelled.length > limit
  return (
    <section aria-labelledby="message" class="panel">
      <h2 id="message">Message</h2>
      {metadata === null ? (
        <p class="muted">{grouped(metadataLength ?? 0)} bytes, too long to be shown.</p>
      ) : bytes === undefined || bytes.length === 0 ? (
        <p class="muted">It has no data.</p>
      ) : (
        <>
          <pre dir="auto">{isLong && !isWhole ? `${spelled.slice(0, limit)}…` : spelled}</pre>
          <p class="actions">
            <span class="muted">
              {grouped(bytes.length)} bytes{text === undefined ? '' : ', as text'}
            </span>
            {isLong ? (
              <button type="button" onClick={() => setWhole(!isWhole)}>
                {isWhole ? 'Show less' : 'Show all'}
              </button>
            ) : null}
            <CopyButton text={metadata} what="data" />
          </p>
        </>
      )}
    </section>
  )
}

function ForPrograms({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const { originNetwork, depositCount } = bridge
  const query = `network_id=${originNetwork}&deposit_count=${depositCount}`
  const addresses = [
    ['Record', `${apiUrl}/bridge/v1/bridges?${query}`],
    ['Stages', `${apiUrl}/bridge/v1/bridge-status?${query}`],
    ...(bridgeState(bridge) === 'ready'
      ? [['Claim call', `${apiUrl}/bridge/v1/claim-transaction?${query}`] as const]
      : []),
  ] as const
  return (
    <section aria-labelledby="programs" class="panel">
      <h2 id="programs">For programs</h2>
      <dl class="facts">
        {addresses.map(([name, address]) => (
          <Fact key={name} name={name}>
            <span class="actions">
              <a href={address} target="_blank" rel="noreferrer noopener">
                JSON
              </a>
              <span class="muted">curl</span>
              <CopyButton text={`curl -s '${address}'`} what="as a curl command" />
            </span>
          </Fact>
        ))}
      </dl>
    </section>
  )
}
