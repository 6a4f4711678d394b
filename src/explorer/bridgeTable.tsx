import type { JSX } from 'preact'
import type { Bridge } from '../client/bridgeClient.js'
import { Ago, Chip, Hex, Link, Route } from './pieces.js'
import { Amount } from './tokenBook.js'
import { bridgeState, bridgeStates } from './words.js'

/** Rows of bridges. Below 640 pixels each row is a card. */
export function BridgeTable({
  bridges,
  caption,
  isOld = false,
}: {
  readonly bridges: readonly Bridge[]
  readonly caption: string
  readonly isOld?: boolean
}): JSX.Element {
  return (
    <div class={isOld ? 'table old' : 'table'}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Bridge</th>
            <th scope="col" class="number">
              Amount
            </th>
            <th scope="col">Route</th>
            <th scope="col" class="wide">
              Sender
            </th>
            <th scope="col" class="middle">
              Receiver
            </th>
            <th scope="col" class="number">
              Sent
            </th>
          </tr>
        </thead>
        <tbody>
          {bridges.map((bridge) => (
            <BridgeRow
              key={`${bridge.originNetwork}:${bridge.depositCount}:${bridge.txHash}`}
              bridge={bridge}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function BridgeRow({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const { originNetwork, destinationNetwork, depositCount } = bridge
  return (
    <tr class="row">
      <td>
        <Chip {...bridgeStates[bridgeState(bridge)]} />
      </td>
      <td>
        <Link
          to={`bridge/${originNetwork}/${depositCount}`}
          class="whole mono"
          title={`Deposit ${depositCount} of network ${originNetwork}`}
        >
          {originNetwork}:{depositCount}
        </Link>
      </td>
      <td class="number" data-label="Amount">
        <Amount {...bridge} />
      </td>
      <td data-label="Route">
        <Route from={originNetwork} to={destinationNetwork} />
      </td>
      <td class="wide" data-label="Sender">
        <Hex value={bridge.originAddress} kind="address" networkId={originNetwork} />
      </td>
      <td class="middle" data-label="Receiver">
        <Hex value={bridge.destinationAddress} kind="address" networkId={destinationNetwork} />
      </td>
      <td class="number" data-label="Sent">
        <Ago at={bridge.blockTimestamp} />
      </td>
    </tr>
  )
}

/** As many grey rows as there will be, so that nothing jumps. */
export function TableSkeleton({ rows }: { readonly rows: number }): JSX.Element {
  return (
    <div class="table" aria-busy="true">
      <p class="unseen">Loading</p>
      <div class="skeleton head" />
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} class="skeleton line" />
      ))}
    </div>
  )
}
