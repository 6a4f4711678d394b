import type { JSX } from 'preact'
import type { Bridge } from '../client/bridgeClient.js'
import { useLive } from './liveAnswer.js'
import { api, networkName } from './pageSettings.js'
import { Ago, Hex } from './pieces.js'
import { Amount } from './tokenBook.js'

/**
 * Bridges that had a number before their network took them back. The network gives such a number again, and no list has the earlier bridge any
 * more; its claim stays.
 */

/** They change when an administrator cuts the exit tree: hardly ever. */
const LOOK_MS = 60_000

export interface Earlier {
  /** Transactions of the earlier bridges. */
  readonly sent: readonly string[]
  /** Network of a claim with this number, if there is one. */
  readonly claimedOn: number | undefined
}

/** @returns undefined until it is known. */
export function useEarlier(networkId: number, depositCount: number): Earlier | undefined {
  const { data } = useLive(
    `earlier/${networkId}/${depositCount}`,
    async (signal) => {
      const { results } = await api.getSearch({ q: `${networkId}:${depositCount}` }, { signal })
      const sent = results.flatMap(({ type, txHash }) =>
        type === 'archived_bridge' && txHash !== undefined ? [txHash] : [],
      )
      return { sent, claimedOn: results.find(({ type }) => type === 'claim')?.networkId }
    },
    { leastMs: LOOK_MS },
  )
  return data
}

/** @param bridge that has the number now, if one has. */
export function EarlierBridges({
  transactions,
  networkId,
  bridge,
}: {
  /** At least one. */
  readonly transactions: readonly string[]
  readonly networkId: number
  readonly bridge?: Bridge | undefined
}): JSX.Element {
  const name = networkName(networkId)
  const isBlocked = bridge?.claimMatches === false
  return (
    <section aria-labelledby="earlier" class="panel">
      <h2 id="earlier">
        {transactions.length === 1 ? 'Earlier bridge' : 'Earlier bridges'} with this number
      </h2>
      <p class="muted">
        {transactions.length === 1 ? 'An earlier bridge' : `${transactions.length} earlier bridges`} from{' '}
        {name} had this number. {name} took {transactions.length === 1 ? 'it' : 'them'} back
        {bridge === undefined ? '.' : ' and gave the number to the bridge on this page.'}
        {isBlocked
          ? ' The earlier one had been claimed by then, and the contract takes one claim for each number.'
          : ''}
      </p>
      <dl class="facts">
        {transactions.map((txHash) => (
          <div key={txHash}>
            <dt>Sent in</dt>
            <dd>
              <Hex value={txHash} kind="transaction" networkId={networkId} />
            </dd>
          </div>
        ))}
      </dl>
      {isBlocked ? <OlderClaim bridge={bridge} /> : null}
    </section>
  )
}

/** What was paid with the number of this bridge. */
function OlderClaim({ bridge }: { readonly bridge: Bridge }): JSX.Element | null {
  const { originNetwork, depositCount, destinationNetwork, claimTxHash } = bridge
  const { data: claim } = useLive(
    `older-claim/${claimTxHash}/${originNetwork}/${depositCount}`,
    async (signal) => {
      const { claims } = await api.getClaims(
        { networkId: destinationNetwork, networkIds: originNetwork, txHash: claimTxHash ?? undefined },
        { signal },
      )
      return claims.find((claim) => claim.depositCount === depositCount)
    },
  )
  if (claim === undefined) return null
  return (
    <dl class="facts">
      <div>
        <dt>Paid out</dt>
        <dd>
          <Amount amount={claim.amount} tokenNetwork={claim.tokenNetwork} tokenAddress={claim.tokenAddress} />
          , <Ago at={claim.blockTimestamp} />
        </dd>
      </div>
      <div>
        <dt>To</dt>
        <dd>
          <Hex value={claim.destinationAddress} kind="address" networkId={destinationNetwork} />
        </dd>
      </div>
      <div>
        <dt>Claimed in</dt>
        <dd>
          <Hex value={claim.txHash} kind="transaction" networkId={destinationNetwork} />
        </dd>
      </div>
    </dl>
  )
}
