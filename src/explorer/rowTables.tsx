import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useReducer, useRef } from 'preact/hooks'
import type { Bridge, Claim, TokenMapping } from '../client/bridgeClient.js'
import { type Reorg, recentReorgs } from './changeWatch.js'
import { networkName } from './pageSettings.js'
import { Ago, Chip, Hex, Link, Route } from './pieces.js'
import { nextRows, type ShownRow } from './shownRows.js'
import { plainText } from './spelling.js'
import { Amount } from './tokenBook.js'
import { bridgeState, bridgeStates, numberMeaning, takenBack } from './words.js'

/** Tables of rows. Below 640 pixels each row is a card, and each value stands beside the name of its column. */

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row, isGone: boolean) => ComponentChildren
  /** `number`: at the right edge, as times are. `text`: on more than one line. `state`: as wide as the longest state, so that nothing moves when it changes. `wide` and `middle`: left out below 1080 and 900 pixels, but not on cards. */
  readonly class?: 'state' | 'number' | 'wide' | 'middle' | 'number middle' | 'text middle'
  /** Its cell needs no name on a card, as it says what the row is. */
  readonly isHead?: boolean
}

interface RowsProps<Row> {
  readonly rows: readonly Row[]
  readonly caption: string
  /** The rows answer an older question. */
  readonly isOld?: boolean
  /** Somebody points at the rows, so they stay where they are. */
  readonly isHeld?: boolean
}

/** So long a row that was taken back is shown as that. */
const GONE_MS = 4_000

function useShownRows<Row>(
  rows: readonly Row[],
  isHeld: boolean,
  keyOf: (row: Row) => string,
  isGoneBy: (row: Row, reorg: Reorg) => boolean,
): readonly ShownRow<Row>[] {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const shown = useRef<readonly ShownRow<Row>[]>([])
  const last = useRef<{ rows?: readonly Row[]; isHeld: boolean }>({ isHeld })
  if (last.current.rows !== rows || last.current.isHeld !== isHeld) {
    last.current = { rows, isHeld }
    const reorgs = recentReorgs()
    const isTakenBack = (row: Row): boolean => reorgs.some((reorg) => isGoneBy(row, reorg))
    shown.current = nextRows(shown.current, rows, { keyOf, isHeld, isTakenBack })
  }
  const gone = shown.current.filter(({ mark }) => mark === 'gone').map(({ key }) => key)
  useEffect(() => {
    if (gone.length === 0) return undefined
    const timer = setTimeout(() => {
      shown.current = shown.current.filter(({ mark }) => mark !== 'gone')
      redraw(0)
    }, GONE_MS)
    return () => clearTimeout(timer)
  }, [gone.join()])
  return shown.current
}

export function DataTable<Row>({
  rows,
  caption,
  isOld = false,
  isHeld = false,
  columns,
  keyOf,
  isGoneBy = () => false,
}: RowsProps<Row> & {
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  /** Whether a reorg takes the row back. */
  readonly isGoneBy?: (row: Row, reorg: Reorg) => boolean
}): JSX.Element {
  const shown = useShownRows(rows, isHeld, keyOf, isGoneBy)
  return (
    <div class={isOld ? 'table old' : 'table'}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, class: kind }) => (
              <th key={name} scope="col" class={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ key, row, mark = '' }) => (
            <tr key={key} class={`row ${mark}`}>
              {columns.map(({ name, cell, class: kind, isHead }) => (
                <td key={name} class={kind} data-label={isHead === true ? undefined : name}>
                  {cell(row, mark === 'gone')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The link that takes clicks on the whole row. */
function BridgeLink({
  originNetwork,
  depositCount,
}: Pick<Bridge, 'originNetwork' | 'depositCount'>): JSX.Element {
  return (
    <Link
      to={`bridge/${originNetwork}/${depositCount}`}
      class="whole mono"
      title={`Bridge ${numberMeaning(originNetwork, depositCount, networkName)}`}
    >
      {originNetwork}:{depositCount}
    </Link>
  )
}

const bridgeColumns: readonly Column<Bridge>[] = [
  {
    name: 'State',
    class: 'state',
    isHead: true,
    cell: (bridge, isGone) => <Chip {...(isGone ? takenBack : bridgeStates[bridgeState(bridge)])} />,
  },
  { name: 'Bridge', isHead: true, cell: (bridge) => <BridgeLink {...bridge} /> },
  { name: 'Amount', class: 'number', cell: (bridge) => <Amount {...bridge} /> },
  {
    name: 'Route',
    cell: ({ originNetwork, destinationNetwork }) => <Route from={originNetwork} to={destinationNetwork} />,
  },
  {
    name: 'Sender',
    class: 'wide',
    cell: ({ originAddress, originNetwork }) => (
      <Hex value={originAddress} kind="address" networkId={originNetwork} />
    ),
  },
  {
    name: 'Receiver',
    class: 'middle',
    cell: ({ destinationAddress, destinationNetwork }) => (
      <Hex value={destinationAddress} kind="address" networkId={destinationNetwork} />
    ),
  },
  { name: 'Sent', class: 'number', cell: ({ blockTimestamp }) => <Ago at={blockTimestamp} /> },
]

export function BridgeTable(props: RowsProps<Bridge>): JSX.Element {
  return (
    <DataTable
      {...props}
      columns={bridgeColumns}
      keyOf={({ originNetwork, depositCount, txHash }) => `${originNetwork}:${depositCount}:${txHash}`}
      isGoneBy={({ originNetwork, depositCount }, reorg) =>
        originNetwork === reorg.networkId && depositCount >= reorg.depositCount
      }
    />
  )
}

const claimColumns: readonly Column<Claim>[] = [
  {
    name: 'Bridge',
    isHead: true,
    cell: (claim, isGone) => (
      <span class="place">
        <BridgeLink {...claim} />
        {isGone ? <Chip {...takenBack} /> : null}
      </span>
    ),
  },
  {
    name: 'Amount',
    class: 'number',
    cell: ({ amount, tokenNetwork, tokenAddress }) => <Amount {...{ amount, tokenNetwork, tokenAddress }} />,
  },
  {
    name: 'Route',
    cell: ({ originNetwork, destinationNetwork }) => <Route from={originNetwork} to={destinationNetwork} />,
  },
  {
    name: 'Receiver',
    cell: ({ destinationAddress, destinationNetwork }) => (
      <Hex value={destinationAddress} kind="address" networkId={destinationNetwork} />
    ),
  },
  {
    name: 'Claimed by',
    class: 'wide',
    cell: ({ fromAddress, destinationNetwork }) => (
      <Hex value={fromAddress} kind="address" networkId={destinationNetwork} />
    ),
  },
  {
    name: 'Transaction',
    class: 'middle',
    cell: ({ txHash, destinationNetwork }) => (
      <Hex value={txHash} kind="transaction" networkId={destinationNetwork} />
    ),
  },
  { name: 'Claimed', class: 'number', cell: ({ blockTimestamp }) => <Ago at={blockTimestamp} /> },
]

export function ClaimTable(props: RowsProps<Claim>): JSX.Element {
  return (
    <DataTable
      {...props}
      columns={claimColumns}
      keyOf={({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`}
      isGoneBy={({ destinationNetwork, blockNumber }, { networkId, ancestorBlock }) =>
        destinationNetwork === networkId && ancestorBlock !== undefined && blockNumber > ancestorBlock
      }
    />
  )
}

const LONGEST_NAME = 40

function TokenPlace({
  networkId,
  address,
}: {
  readonly networkId: number
  readonly address: string
}): JSX.Element {
  return (
    <span class="place">
      <span>{networkName(networkId)}</span>
      <Hex value={address} kind="address" networkId={networkId} />
    </span>
  )
}

const tokenColumns: readonly Column<TokenMapping>[] = [
  {
    name: 'Token',
    isHead: true,
    cell: ({ symbol, name }) => (
      <span class="token">
        <bdi class="symbol">{plainText(symbol ?? '') ?? 'Unnamed'}</bdi>{' '}
        <bdi class="muted name">{plainText(name ?? '', LONGEST_NAME) ?? ''}</bdi>
      </span>
    ),
  },
  {
    name: 'Home',
    cell: ({ originNetwork, originTokenAddress }) => (
      <TokenPlace networkId={originNetwork} address={originTokenAddress} />
    ),
  },
  {
    name: 'Wrapped as',
    cell: ({ wrappedNetwork, wrappedTokenAddress }) => (
      <TokenPlace networkId={wrappedNetwork} address={wrappedTokenAddress} />
    ),
  },
  { name: 'Decimals', class: 'number middle', cell: ({ decimals }) => decimals ?? '–' },
  {
    name: 'State',
    cell: ({ isCurrent }) => (
      <Chip {...(isCurrent ? { tone: 'good', word: 'In use' } : { tone: 'quiet', word: 'Replaced' })} />
    ),
  },
  { name: 'Since', class: 'number', cell: ({ blockTimestamp }) => <Ago at={blockTimestamp} /> },
]

export function TokenTable(props: RowsProps<TokenMapping>): JSX.Element {
  return (
    <DataTable
      {...props}
      columns={tokenColumns}
      keyOf={({ wrappedNetwork, blockNumber, logIndex }) => `${wrappedNetwork}:${blockNumber}:${logIndex}`}
    />
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
