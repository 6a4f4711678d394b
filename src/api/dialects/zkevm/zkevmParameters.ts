import { decodeHex } from '../../../protocol/hex.js'
import { asNetworkId, type NetworkId } from '../../../protocol/units.js'
import { type Answer, failure, success } from '../../../query/answers.js'
import {
  type BridgesQuery,
  type ClaimProofQuery,
  type ClaimsQuery,
  MAX_WALKED_ROWS,
  type TokenMappingsQuery,
} from '../../../query/queries.js'
import { globalExitRootUnknown } from '../../../query/refusals.js'
import {
  type DepositKey,
  depositKey,
  firstValue,
  type GoParameters,
  goParsers,
  NO_DEPOSIT,
  onlyBridge,
  type ParserOf,
  parseFault,
  WantedNames,
} from '../frame/goParameters.js'

/** Parameters as grpc-gateway reads them: under either spelling of a name, and 0 where there is none. */

const UINT32_MAX = 0xffff_ffff

/** @param names of the parameter: the first that is given counts. */
function uint32(parameters: GoParameters, ...names: readonly string[]): Answer<number> {
  const name = names.find((one) => parameters.has(one)) ?? names[0]!
  const text = firstValue(parameters, name)
  if (text === '') return success(0)
  const fault =
    parseFault(text) ??
    (Number(text) > UINT32_MAX
      ? `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`
      : undefined)
  return fault === undefined
    ? success(Number(text))
    : failure('INVALID_PARAMETER', `parsing field ${JSON.stringify(names[0])}: ${fault}`)
}

/** Names of the two parameters that name a deposit. */
interface DepositNames {
  readonly network: readonly string[]
  readonly count: readonly string[]
}

const USUAL: DepositNames = { network: ['net_id', 'netId'], count: ['deposit_cnt', 'depositCnt'] }
const SECOND: DepositNames = {
  network: ['network_id', 'networkId'],
  count: ['deposit_count', 'depositCount'],
}

const RECEIVER = 'dest_addr'

/** Of all endpoints. */
const NAMES = new WantedNames([
  ...[...USUAL.network, ...USUAL.count, ...SECOND.network, ...SECOND.count, RECEIVER],
  ...['offset', 'limit', 'dest_net', 'destNet', 'ger'],
  ...['orig_net', 'origNet', 'orig_token_addr', 'origTokenAddr'],
])

function readDeposit(parameters: GoParameters, { network, count }: DepositNames): Answer<DepositKey> {
  return depositKey(uint32(parameters, ...network), uint32(parameters, ...count))
}

const NOT_STORED = 'not found in the Storage'
const parser = goParsers(NAMES, () => NOT_STORED)

export const bridgeParser = parser<BridgesQuery>((parameters) => {
  const deposit = readDeposit(parameters, USUAL)
  return deposit.ok ? success(onlyBridge(deposit.value)) : deposit
})

const PAGE_SIZE = 25
const MAX_PAGE_SIZE = 100

/** Too many rows are cut down without a word. */
function readPage(
  parameters: GoParameters,
): Answer<Pick<BridgesQuery, 'pageNumber' | 'pageSize' | 'skipped'>> {
  const skipped = uint32(parameters, 'offset')
  if (!skipped.ok) return skipped
  const limit = uint32(parameters, 'limit')
  if (!limit.ok) return limit
  const pageSize = Math.min(limit.value === 0 ? PAGE_SIZE : limit.value, MAX_PAGE_SIZE)
  return success({ pageNumber: 1, pageSize, skipped: skipped.value })
}

/** The address that stands in the path, read as `common.HexToAddress` does: the last 20 bytes, zeros in front of fewer. */
function readReceiver(parameters: GoParameters): Uint8Array {
  const [, digits = ''] = /^(?:0[xX])?([0-9a-fA-F]*)$/.exec(firstValue(parameters, RECEIVER)) ?? []
  return decodeHex(`0x${digits.padStart(40, '0').slice(-40)}`)!
}

/** A filter that is there or not, since 0 is a network. */
function readNetwork(parameters: GoParameters, ...names: readonly string[]): Answer<NetworkId | undefined> {
  if (!names.some((name) => parameters.has(name))) return success(undefined)
  const networkId = uint32(parameters, ...names)
  return networkId.ok ? success(asNetworkId(networkId.value)) : networkId
}

/** A query for all networks; refused where the page lies too far back. */
function ofAll<Query extends BridgesQuery | ClaimsQuery>(query: Query): Answer<Query> {
  const { skipped = 0 } = query
  return skipped > MAX_WALKED_ROWS
    ? failure(
        'INVALID_PARAMETER',
        `offset ${skipped} is above ${MAX_WALKED_ROWS}, the most for the rows of all networks`,
      )
    : success(query)
}

/** Deposits to an account, on one network or on all. */
export const bridgesParser = parser<BridgesQuery>((parameters, servedNetworks) => {
  const page = readPage(parameters)
  if (!page.ok) return page
  const source = readNetwork(parameters, 'net_id', 'netId')
  if (!source.ok) return source
  const destination = readNetwork(parameters, 'dest_net', 'destNet')
  if (!destination.ok) return destination
  const query = {
    ...page.value,
    toAddress: readReceiver(parameters),
    ...(destination.value === undefined ? {} : { networkIds: [destination.value] }),
  }
  if (source.value === undefined) return ofAll<BridgesQuery>(query)
  return servedNetworks.has(source.value)
    ? success<BridgesQuery>({ ...query, networkId: source.value })
    : success<BridgesQuery>({ ...query, depositCounts: [NO_DEPOSIT] })
})

/** Claims for an account, on all networks. */
export const claimsParser = parser<ClaimsQuery>((parameters) => {
  const page = readPage(parameters)
  return page.ok ? ofAll<ClaimsQuery>({ ...page.value, toAddress: readReceiver(parameters) }) : page
})

function proofParserOf(names: DepositNames): ParserOf<ClaimProofQuery> {
  return parser<ClaimProofQuery>((parameters) => readDeposit(parameters, names))
}

export const proofParser = proofParserOf(USUAL)
export const secondProofParser = proofParserOf(SECOND)

const ROOT = /^(0x)?[0-9a-fA-F]{64}$/

export const proofByRootParser = parser<ClaimProofQuery>((parameters) => {
  const deposit = readDeposit(parameters, USUAL)
  if (!deposit.ok) return deposit
  const text = firstValue(parameters, 'ger')
  if (!ROOT.test(text)) return globalExitRootUnknown(text)
  return success({ ...deposit.value, globalExitRoot: decodeHex(`0x${text.slice(-64)}`)! })
})

const ADDRESS = /^(0x)?[0-9a-fA-F]{40}$/

/** The oldest mapping of the token: one row, as the original has one. */
export const tokenParser = parser<TokenMappingsQuery>((parameters) => {
  const tokenNetwork = uint32(parameters, 'orig_net', 'origNet')
  if (!tokenNetwork.ok) return tokenNetwork
  const text = firstValue(parameters, parameters.has('origTokenAddr') ? 'origTokenAddr' : 'orig_token_addr')
  if (!ADDRESS.test(text)) return failure('BRIDGE_NOT_FOUND', NOT_STORED)
  return success<TokenMappingsQuery>({
    pageNumber: 1,
    pageSize: 1,
    isAscending: true,
    tokenNetwork: asNetworkId(tokenNetwork.value),
    originTokenAddress: decodeHex(`0x${text.slice(-40)}`)!,
  })
})
