import type { CallOptions } from './call.types.js'
import { type EventFilter, type EventsOptions, type PlacedEvent, readEvents } from './readEvents.js'
import { type ListOptions, readList } from './readList.js'
import { type ClientOptions, createTransport } from './transport.js'
import { type BridgeName, type WaitOptions, waitUntilClaimable } from './waitUntilClaimable.js'
import {
  type Bridge,
  type BridgesParameters,
  type Claim,
  type ClaimsParameters,
  type Endpoints,
  type Hex,
  operations,
  type TokenMapping,
  type TokenMappingsParameters,
} from './wireDefinition.js'

/** The package's entry `bridge-data-service/client`: everything that it exports is public. */

export type { CallOptions, ClientClock, RetryOptions } from './call.types.js'
export {
  BridgeApiError,
  BridgeClientError,
  BridgeNetworkError,
  BridgeResponseError,
  BridgeRestartError,
  NotClaimableError,
} from './clientErrors.js'
export type { EventFilter, EventsOptions, PlacedEvent } from './readEvents.js'
export type { ListOptions, ListRestart } from './readList.js'
export type { ClientOptions, EventBody, FetchLike } from './transport.js'
export type { BridgeName, ClaimablePoll, WaitOptions } from './waitUntilClaimable.js'
export type * from './wireDefinition.js'

/** Filters of a list. Its pages are the iterator's own affair. */
export type FilterOf<Parameters> = Omit<Parameters, 'pageNumber' | 'cursor'>

/** A claim, ready for a wallet: viem's `sendTransaction`, ethers' `Signer.sendTransaction`. */
export interface ClaimCall {
  /** Bridge contract on the destination network. */
  readonly to: Hex
  readonly data: Hex
  /** Always 0. */
  readonly value: bigint
  /** Chain id of the destination network. */
  readonly chainId: number
}

export interface ClaimOptions extends CallOptions {
  /** L1 info tree index to prove with. Default: the smallest usable one. */
  readonly leafIndex?: number | undefined
}

/** No method needs `this`. */
export interface BridgeClient extends Endpoints {
  /**
   * Bridges of a source network, oldest first unless `order` says otherwise. Oldest first, the rows since the last start are exactly the list
   * as the last page found it; newest first, a reorg may replace rows that were given without a restart.
   */
  bridges(filter: FilterOf<BridgesParameters>, options?: ListOptions): AsyncGenerator<Bridge, void, undefined>
  /** Claims on a network; the same of their order. */
  claims(filter: FilterOf<ClaimsParameters>, options?: ListOptions): AsyncGenerator<Claim, void, undefined>
  /** Token mappings; the same of their order. */
  tokenMappings(
    filter?: FilterOf<TokenMappingsParameters>,
    options?: ListOptions,
  ): AsyncGenerator<TokenMapping, void, undefined>
  /** Events as they happen, over one connection that is made anew where it breaks: none is missed, none is given twice. */
  events(filter?: EventFilter, options?: EventsOptions): AsyncGenerator<PlacedEvent, void, undefined>
  /**
   * Looks at a bridge when an event tells of it, and else less and less often, until it is ready to be claimed, and outlives failures that may pass.
   * @throws NotClaimableError when it never will be.
   */
  waitUntilClaimable(bridge: BridgeName, options?: WaitOptions): Promise<Bridge>
  /** The claim call of a bridge. It does not look whether the bridge was claimed already. */
  claimTransaction(bridge: BridgeName, options?: ClaimOptions): Promise<ClaimCall>
}

/** @throws TypeError for options that can never work. */
export function createBridgeClient(options: ClientOptions): BridgeClient {
  const transport = createTransport(options)
  const { ask, clock } = transport
  // Each entry has the signature that the generator wrote beside the table.
  const endpoints = Object.fromEntries(
    Object.entries(operations).map(([name, { hasParameters }]) => {
      const id = name as keyof typeof operations
      return [
        id,
        hasParameters
          ? (parameters: object = {}, call?: CallOptions) => ask(id, parameters, call)
          : (call?: CallOptions) => ask(id, {}, call),
      ]
    }),
  ) as unknown as Endpoints
  const { getBridges, getClaims, getTokenMappings, getClaimTransaction } = endpoints

  const events: BridgeClient['events'] = (filter = {}, options) => readEvents(transport, filter, options)

  return {
    ...endpoints,
    bridges: (filter, list) =>
      readList(
        async (cursor) => {
          const { bridges, pagination } = await getBridges({ ...paged(filter), cursor }, list)
          return { rows: bridges, pagination }
        },
        clock,
        list,
      ),
    claims: (filter, list) =>
      readList(
        async (cursor) => {
          const { claims, pagination } = await getClaims({ ...paged(filter), cursor }, list)
          return { rows: claims, pagination }
        },
        clock,
        list,
      ),
    tokenMappings: (filter = {}, list) =>
      readList(
        async (cursor) => {
          const { tokenMappings, pagination } = await getTokenMappings({ ...paged(filter), cursor }, list)
          return { rows: tokenMappings, pagination }
        },
        clock,
        list,
      ),
    events,
    waitUntilClaimable: (bridge, wait) => waitUntilClaimable({ ...endpoints, events }, clock, bridge, wait),
    async claimTransaction({ originNetwork, depositCount }, { leafIndex, ...call } = {}) {
      const { to, data, value, chainId } = await getClaimTransaction(
        { networkId: originNetwork, depositCount, leafIndex },
        call,
      )
      return { to, data, value, chainId }
    },
  }
}

/** Oldest first, a cursor vouches for all rows before it. */
function paged<Filter extends { readonly order?: 'asc' | 'desc' | undefined }>(filter: Filter): Filter {
  return { ...filter, order: filter.order ?? 'asc' }
}
