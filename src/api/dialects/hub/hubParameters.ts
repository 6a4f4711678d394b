import { decodeHex } from '../../../protocol/hex.js'
import { asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../../protocol/units.js'
import { type Answer, success } from '../../../query/answers.js'
import {
  type BridgesQuery,
  type ClaimProofQuery,
  MAX_WALKED_ROWS,
  type TokenMappingsQuery,
} from '../../../query/queries.js'
import {
  type DepositKey,
  depositKey,
  firstValue,
  type GoParameters,
  goParsers,
  NO_DEPOSIT,
  onlyBridge,
  refused,
  WantedNames,
} from '../frame/goParameters.js'

/** Parameters of Bridge Hub → our queries. */

const PAGE_SIZE = 20
const MAX_PAGE_SIZE = 50
const MAX_LIST_CHARACTERS = 18
const UINT32_MAX = 0xffff_ffff

/** Of all endpoints. */
const NAMES = new WantedNames([
  ...['limit', 'startAfter', 'order', 'status', 'fromAddress', 'depositCount', 'leafIndex'],
  ...[
    'sourceNetworkId',
    'sourceNetworkIds',
    'destinationNetworkIds',
    'originNetworkIds',
    'wrappedNetworkIds',
  ],
  ...['tokenNetwork', 'tokenAddress', 'originTokenAddress', 'wrappedTokenAddress'],
])

export const NO_TRANSACTION = 'Transaction not found for the given deposit count and source networkId'
const noTransaction = (): string => NO_TRANSACTION
const parser = goParsers(NAMES, (networkId) => `network ${networkId} is not served here`)

const DIGITS = /^[0-9]{1,10}$/

function uint32(name: string, text: string): Answer<number> {
  return DIGITS.test(text) && Number(text) <= UINT32_MAX
    ? success(Number(text))
    : refused(`${name} must be a whole number`)
}

/** @returns undefined where it is not given. */
function optionalUint32(parameters: GoParameters, name: string): Answer<number | undefined> {
  return parameters.has(name) ? uint32(name, firstValue(parameters, name)) : success(undefined)
}

/** Numbers with commas between them; undefined where none are given. */
function networkList(parameters: GoParameters, name: string): Answer<readonly NetworkId[] | undefined> {
  if (!parameters.has(name)) return success(undefined)
  const text = firstValue(parameters, name)
  if (text.length > MAX_LIST_CHARACTERS)
    return refused(`${name} must contain at most ${MAX_LIST_CHARACTERS} character(s)`)
  const networkIds = new Set<NetworkId>()
  for (const item of text.split(',')) {
    const networkId = uint32(name, item)
    if (!networkId.ok) return networkId
    networkIds.add(asNetworkId(networkId.value))
  }
  return success([...networkIds])
}

function optionalAddress(parameters: GoParameters, name: string): Answer<Uint8Array | undefined> {
  if (!parameters.has(name)) return success(undefined)
  const address = decodeHex(firstValue(parameters, name))
  return address?.length === 20 ? success(address) : refused(`${name} must be 0x and 40 hex digits`)
}

/** The cursor is the number of rows in front of the page: rows that arrive meanwhile show some rows twice, and hide none. */
function readPage(parameters: GoParameters): Answer<{ readonly skipped: number; readonly pageSize: number }> {
  const limit = optionalUint32(parameters, 'limit')
  if (!limit.ok) return limit
  const { value: pageSize = PAGE_SIZE } = limit
  if (pageSize > MAX_PAGE_SIZE) return refused(`limit must be less than or equal to ${MAX_PAGE_SIZE}`)
  const startAfter = optionalUint32(parameters, 'startAfter')
  if (!startAfter.ok) return startAfter
  const { value: skipped = 0 } = startAfter
  return skipped > MAX_WALKED_ROWS
    ? refused(`startAfter ${skipped} is above ${MAX_WALKED_ROWS}`)
    : success({ skipped, pageSize: pageSize === 0 ? PAGE_SIZE : pageSize })
}

/** What a state of a bridge is in our queries. No bridge is ever told as LEAF_INCLUDED. */
const statuses: Readonly<
  Record<string, Pick<BridgesQuery, 'claimed' | 'readyForClaim' | 'depositCounts'> | undefined>
> = {
  BRIDGED: { claimed: false, readyForClaim: false },
  LEAF_INCLUDED: { depositCounts: [NO_DEPOSIT] },
  READY_TO_CLAIM: { readyForClaim: true },
  CLAIMED: { claimed: true },
}

export const transactionsParser = parser<BridgesQuery>((parameters, servedNetworks) => {
  const page = readPage(parameters)
  if (!page.ok) return page
  const sources = networkList(parameters, 'sourceNetworkIds')
  if (!sources.ok) return sources
  const destinations = networkList(parameters, 'destinationNetworkIds')
  if (!destinations.ok) return destinations
  const fromAddress = optionalAddress(parameters, 'fromAddress')
  if (!fromAddress.ok) return fromAddress
  const order = firstValue(parameters, 'order')
  if (!['', 'asc', 'desc'].includes(order)) return refused("order must be 'asc' or 'desc'")
  const statusText = firstValue(parameters, 'status')
  const status = statusText === '' ? {} : Object.hasOwn(statuses, statusText) && statuses[statusText]
  if (!status) return refused(`status must be one of ${Object.keys(statuses).join(', ')}`)
  const { skipped, pageSize } = page.value
  const query: BridgesQuery = {
    ...status,
    // Not read by the query, which is told what to skip, but told with the page: its end says where the next one begins.
    pageNumber: skipped + 1,
    skipped,
    pageSize,
    ...(order === 'asc' ? { isAscending: true } : {}),
    ...(fromAddress.value === undefined ? {} : { fromAddress: fromAddress.value }),
    ...(destinations.value === undefined ? {} : { networkIds: destinations.value }),
  }
  if (sources.value === undefined) return success(query)
  const served = sources.value.filter((networkId) => servedNetworks.has(networkId))
  const [one, ...others] = served
  if (one === undefined) return success<BridgesQuery>({ ...query, depositCounts: [NO_DEPOSIT] })
  return success<BridgesQuery>(
    others.length === 0 ? { ...query, networkId: one } : { ...query, sourceNetworks: served },
  )
})

function readDeposit(parameters: GoParameters): Answer<DepositKey> {
  const read = (name: string) => uint32(name, firstValue(parameters, name))
  return depositKey(read('sourceNetworkId'), read('depositCount'))
}

/** One bridge, by what stands in the path. Of a network that is not served there is none. */
export const transactionParser = parser<BridgesQuery>((parameters, servedNetworks) => {
  const deposit = readDeposit(parameters)
  if (!deposit.ok) return deposit
  return success(
    servedNetworks.has(deposit.value.networkId)
      ? onlyBridge(deposit.value)
      : { pageNumber: 1, pageSize: 1, depositCounts: [NO_DEPOSIT] },
  )
})

/** Lists of networks hold one network each: ours has no other filter. */
function oneNetwork(parameters: GoParameters, name: string): Answer<NetworkId | undefined> {
  const networkIds = networkList(parameters, name)
  if (!networkIds.ok) return networkIds
  const { value = [] } = networkIds
  return value.length > 1 ? refused(`${name} may hold one network`) : success(value[0])
}

export const tokenMappingsParser = parser<TokenMappingsQuery>((parameters) => {
  const page = readPage(parameters)
  if (!page.ok) return page
  const originNetwork = oneNetwork(parameters, 'originNetworkIds')
  if (!originNetwork.ok) return originNetwork
  const wrappedNetwork = oneNetwork(parameters, 'wrappedNetworkIds')
  if (!wrappedNetwork.ok) return wrappedNetwork
  const origin = optionalAddress(parameters, 'originTokenAddress')
  if (!origin.ok) return origin
  const wrapped = optionalAddress(parameters, 'wrappedTokenAddress')
  if (!wrapped.ok) return wrapped
  if (origin.value !== undefined && wrapped.value !== undefined)
    return refused('originTokenAddress and wrappedTokenAddress exclude each other')
  const { skipped, pageSize } = page.value
  if (skipped % pageSize !== 0) return refused('startAfter belongs to another limit')
  return success<TokenMappingsQuery>({
    pageNumber: skipped / pageSize + 1,
    pageSize,
    ...(wrappedNetwork.value === undefined ? {} : { networkId: wrappedNetwork.value }),
    ...(originNetwork.value === undefined ? {} : { tokenNetwork: originNetwork.value }),
    ...(origin.value === undefined ? {} : { originTokenAddress: origin.value }),
    ...(wrapped.value === undefined ? {} : { tokenAddress: wrapped.value }),
  })
})

/** Mappings of one token, on whichever side it stands. Our query has no network for both sides at once: tokens with this address on others are told, too. */
export const tokenParser = parser<TokenMappingsQuery>((parameters) => {
  const tokenNetwork = uint32('tokenNetwork', firstValue(parameters, 'tokenNetwork'))
  if (!tokenNetwork.ok) return tokenNetwork
  const tokenAddress = decodeHex(firstValue(parameters, 'tokenAddress'))
  if (tokenAddress?.length !== 20) return refused('tokenAddress must be 0x and 40 hex digits')
  return success<TokenMappingsQuery>({
    pageNumber: 1,
    pageSize: MAX_PAGE_SIZE,
    tokenAddress,
  })
})

export const claimProofParser = parser<ClaimProofQuery>((parameters) => {
  const deposit = readDeposit(parameters)
  if (!deposit.ok) return deposit
  const leafIndex = optionalUint32(parameters, 'leafIndex')
  if (!leafIndex.ok) return leafIndex
  return success({
    ...deposit.value,
    withMetadata: true,
    ...(leafIndex.value === undefined ? {} : { leafIndex: asL1InfoTreeIndex(leafIndex.value) }),
  })
}, noTransaction)
