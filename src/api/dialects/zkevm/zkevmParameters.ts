import { decodeHex } from '../../../protocol/hex.js'
import { asDepositCount, asNetworkId, type DepositCount, type NetworkId } from '../../../protocol/units.js'
import { type Answer, failure, success } from '../../../query/answers.js'
import type { BridgesQuery, ClaimProofQuery, TokenMappingsQuery } from '../../../query/queries.js'
import { globalExitRootUnknown } from '../../../query/refusals.js'
import type { QueryParser } from '../../parse/parseQuery.js'
import { firstValue, type GoParameters, goParser, parseFault } from '../frame/goParameters.js'

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

interface DepositKey {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
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

function readDeposit(parameters: GoParameters, { network, count }: DepositNames): Answer<DepositKey> {
  const networkId = uint32(parameters, ...network)
  if (!networkId.ok) return networkId
  const depositCount = uint32(parameters, ...count)
  if (!depositCount.ok) return depositCount
  return success({
    networkId: asNetworkId(networkId.value),
    depositCount: asDepositCount(depositCount.value),
  })
}

const NOT_STORED = 'not found in the Storage'
const unserved = (): string => NOT_STORED

type ParserOf<Query> = (servedNetworks: ReadonlySet<number>) => QueryParser<Query>

export const bridgeParser: ParserOf<BridgesQuery> = (servedNetworks) =>
  goParser(
    servedNetworks,
    (parameters) => {
      const deposit = readDeposit(parameters, USUAL)
      if (!deposit.ok) return deposit
      const { networkId, depositCount } = deposit.value
      return success({ networkId, pageNumber: 1, pageSize: 1, depositCounts: [depositCount] })
    },
    unserved,
  )

function proofParserOf(names: DepositNames): ParserOf<ClaimProofQuery> {
  return (servedNetworks) =>
    goParser(servedNetworks, (parameters) => readDeposit(parameters, names), unserved)
}

export const proofParser = proofParserOf(USUAL)
export const secondProofParser = proofParserOf(SECOND)

const ROOT = /^(0x)?[0-9a-fA-F]{64}$/

export const proofByRootParser: ParserOf<ClaimProofQuery> = (servedNetworks) =>
  goParser(
    servedNetworks,
    (parameters) => {
      const deposit = readDeposit(parameters, USUAL)
      if (!deposit.ok) return deposit
      const text = firstValue(parameters, 'ger')
      if (!ROOT.test(text)) return globalExitRootUnknown(text)
      return success({ ...deposit.value, globalExitRoot: decodeHex(`0x${text.slice(-64)}`)! })
    },
    unserved,
  )

const ADDRESS = /^(0x)?[0-9a-fA-F]{40}$/

/** The oldest mapping of the token: one row, as the original has one. */
export const tokenParser: ParserOf<TokenMappingsQuery> = (servedNetworks) =>
  goParser(
    servedNetworks,
    (parameters) => {
      const tokenNetwork = uint32(parameters, 'orig_net', 'origNet')
      if (!tokenNetwork.ok) return tokenNetwork
      const text = firstValue(
        parameters,
        parameters.has('origTokenAddr') ? 'origTokenAddr' : 'orig_token_addr',
      )
      if (!ADDRESS.test(text)) return failure('BRIDGE_NOT_FOUND', NOT_STORED)
      return success<TokenMappingsQuery>({
        pageNumber: 1,
        pageSize: 1,
        isAscending: true,
        tokenNetwork: asNetworkId(tokenNetwork.value),
        originTokenAddress: decodeHex(`0x${text.slice(-40)}`)!,
      })
    },
    unserved,
  )
