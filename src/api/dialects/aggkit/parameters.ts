import { decodeHex } from '../../../protocol/hex.js'
import { isUint256Text, writeUint256 } from '../../../protocol/uint256.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../../protocol/units.js'
import { type Answer, success } from '../../../query/answers.js'
import type {
  BridgesQuery,
  ClaimProofQuery,
  ClaimsQuery,
  InjectedL1InfoLeafQuery,
  L1InfoTreeIndexQuery,
  TokenMappingsQuery,
} from '../../../query/queries.js'
import {
  type DepositKey,
  depositKey,
  firstValue,
  type GoParameters,
  goParsers,
  mandatory,
  NO_DEPOSIT,
  onlyBridge,
  optional,
  type ParserOf,
  parseFault,
  refused,
  WantedNames,
} from '../frame/goParameters.js'
import type { AggkitRelease } from './release.js'

/** Parameters of aggkit → our queries. */

const PAGE_SIZE = 20
const MAX_PAGE_SIZE = 200
const MAX_NETWORK_IDS = 5

/** Of all endpoints. */
export const AGGKIT_NAMES = new WantedNames([
  ...['network_id', 'network_ids', 'deposit_count', 'leaf_index', 'page_number', 'page_size'],
  ...['from_address', 'origin_token_address', 'global_index', 'include_all_fields'],
])

const ADDRESS = /^(0x|0X)?[0-9a-fA-F]{40}$/

const parser = goParsers(AGGKIT_NAMES, (networkId) => `unsupported network id: ${networkId}`)

export const bridgesParser = parser<BridgesQuery>((parameters) => {
  const paging = readList(parameters)
  if (!paging.ok) return paging
  const networkIds = readNetworkIds(parameters)
  if (!networkIds.ok) return networkIds
  const depositCount = firstValue(parameters, 'deposit_count')
  const fromAddress = readAddress(firstValue(parameters, 'from_address'))
  return success({
    ...paging.value,
    ...(parseFault(depositCount) === undefined
      ? { depositCounts: [asDepositCount(Math.min(Number(depositCount), NO_DEPOSIT))] }
      : {}),
    ...(fromAddress === undefined ? {} : { fromAddress }),
    ...networkIds.value,
  })
})

export const bridgeByCountParser = parser<BridgesQuery>((parameters) => {
  const deposit = readDeposit(parameters)
  if (!deposit.ok) return deposit
  return success(onlyBridge(deposit.value))
})

export function claimsParser(release: AggkitRelease): ParserOf<ClaimsQuery> {
  return parser<ClaimsQuery>((parameters) => {
    const paging = readList(parameters)
    if (!paging.ok) return paging
    const networkIds = readNetworkIds(parameters)
    if (!networkIds.ok) return networkIds
    if (release === '0.6') {
      const fromAddress = readAddress(firstValue(parameters, 'from_address'))
      return success({
        ...paging.value,
        ...networkIds.value,
        ...(fromAddress === undefined ? {} : { fromAddress }),
      })
    }
    if (!GO_BOOLEAN.test(firstValue(parameters, 'include_all_fields')))
      return refused('invalid include_all_fields parameter')
    const globalIndex = readGlobalIndex(firstValue(parameters, 'global_index'))
    if (globalIndex === undefined) return refused('invalid global_index parameter, it should be a numeric')
    return success({ ...paging.value, ...networkIds.value, ...globalIndex })
  })
}

export const tokenMappingsParser = parser<TokenMappingsQuery>((parameters) => {
  const paging = readList(parameters)
  if (!paging.ok) return paging
  const originTokenAddress = readAddress(firstValue(parameters, 'origin_token_address'))
  return success({ ...paging.value, ...(originTokenAddress === undefined ? {} : { originTokenAddress }) })
})

export const l1InfoTreeIndexParser = parser<L1InfoTreeIndexQuery>((parameters) => {
  const deposit = readDeposit(parameters)
  return deposit.ok ? success({ ...deposit.value, isFirstCovering: true }) : deposit
})

export const claimProofParser = parser<ClaimProofQuery>(
  (parameters) => {
    const networkId = mandatory(parameters, 'network_id')
    if (!networkId.ok) return networkId
    const leafIndex = mandatory(parameters, 'leaf_index')
    if (!leafIndex.ok) return leafIndex
    const deposit = depositKey(networkId, mandatory(parameters, 'deposit_count'))
    return deposit.ok ? success({ ...deposit.value, leafIndex: asL1InfoTreeIndex(leafIndex.value) }) : deposit
  },
  (networkId) => `failed to get claim proof, unsupported network ${networkId}`,
)

export const injectedLeafParser = parser<InjectedL1InfoLeafQuery>((parameters) => {
  const networkId = mandatory(parameters, 'network_id')
  if (!networkId.ok) return networkId
  const leafIndex = mandatory(parameters, 'leaf_index')
  if (!leafIndex.ok) return leafIndex
  return success({
    networkId: asNetworkId(networkId.value),
    leafIndex: asL1InfoTreeIndex(leafIndex.value),
  })
})

function readDeposit(parameters: GoParameters): Answer<DepositKey> {
  return depositKey(mandatory(parameters, 'network_id'), mandatory(parameters, 'deposit_count'))
}

/** What every list has: a network and a page. */
function readList(parameters: GoParameters) {
  const networkId = mandatory(parameters, 'network_id')
  if (!networkId.ok) return networkId
  const pageNumber = optional(parameters, 'page_number', 1)
  if (!pageNumber.ok) return pageNumber
  const pageSize = optional(parameters, 'page_size', PAGE_SIZE)
  if (!pageSize.ok) return pageSize
  if (pageNumber.value === 0) return refused('page number must be greater than 0')
  if (pageSize.value === 0) return refused('page size must be greater than 0')
  if (pageSize.value > MAX_PAGE_SIZE)
    return refused(`page size must be less than or equal to ${MAX_PAGE_SIZE}`)
  return success({
    networkId: asNetworkId(networkId.value),
    pageNumber: pageNumber.value,
    pageSize: pageSize.value,
  })
}

function countItems(list: string): number {
  let count = 1
  for (let at = list.indexOf(','); at >= 0; at = list.indexOf(',', at + 1)) count++
  return count
}

/** Repeated, as the original reads them, or with commas, as its clients send them. */
function readNetworkIds(parameters: GoParameters): Answer<{ readonly networkIds?: readonly NetworkId[] }> {
  const values = parameters.get('network_ids') ?? []
  // Counted before they are taken apart: a URL has room for a thousand.
  const count = values.reduce((sum, value) => sum + countItems(value), 0)
  if (count === 0 || (count === 1 && values[0] === '')) return success({})
  if (count > MAX_NETWORK_IDS)
    return refused(
      `invalid network_ids parameter: too many network IDs provided: maximum ${MAX_NETWORK_IDS} allowed, got ${count}`,
    )
  const given = values.flatMap((value) => value.split(','))
  const networkIds = new Set<NetworkId>()
  for (const text of given) {
    const number = Number(text)
    const fault = parseFault(text) ?? (number > 0xffff_ffff ? 'value out of range for uint32' : undefined)
    if (fault !== undefined)
      return refused(`invalid network_ids parameter: invalid network ID '${text}': ${fault}`)
    networkIds.add(asNetworkId(number))
  }
  return success({ networkIds: [...networkIds].sort((left, right) => left - right) })
}

/** @returns undefined for anything that is no address: it is no filter then. */
function readAddress(text: string): Uint8Array | undefined {
  return ADDRESS.test(text) ? decodeHex(`0x${text.slice(-40)}`) : undefined
}

/** What `strconv.ParseBool` reads, or nothing. Proofs of claims are not stored, so that both values mean the same. */
const GO_BOOLEAN = /^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)?$/

const NUMERIC = /^(0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})$/

/** @returns undefined for what is no number; nothing where there is none. */
function readGlobalIndex(text: string): { readonly globalIndex?: Uint8Array } | undefined {
  if (text === '') return {}
  if (!NUMERIC.test(text)) return undefined
  const plain = /^0[xX]/.test(text) ? `0x${text.slice(2)}` : text.replace(/^0+(?=.)/, '')
  if (!isUint256Text(plain)) return undefined
  const globalIndex = new Uint8Array(32)
  writeUint256(globalIndex, 0, BigInt(plain))
  return { globalIndex }
}
