import type { NamedQuery } from '../../src/pool/queryCodec.js'
import { asBlockNumber, asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import type { BridgesQuery, ClaimsQuery } from '../../src/query/queries.js'
import type { Traffic } from './traffic.js'

/** One question with variants, which are asked in turn. */
export interface Question {
  readonly name: string
  readonly queries: readonly NamedQuery[]
  /** Target of the project: at most this many µs, without the entity tag. */
  readonly targetUs?: number
  /** Target of the project: the rival takes at least this many times as long. */
  readonly targetRatio?: number
  /** Whether the target for growth holds for it: at ten million rows at most three times the time at ten thousand. */
  readonly isSteady?: boolean
}

const L1 = asNetworkId(0)
const ROWS = 100
const VARIANTS = 64

/** Number of deposits that are asked for one by one. */
export function sampledDeposits(bridges: number): readonly number[] {
  return Array.from({ length: VARIANTS }, (_, at) => Math.floor((bridges * (at + 0.5)) / VARIANTS))
}

/** One bridge of network 0. */
export function pointOf(depositCount: number): NamedQuery {
  return {
    operation: 'getBridges',
    query: {
      networkId: L1,
      pageNumber: 1,
      pageSize: ROWS,
      depositCounts: [asDepositCount(depositCount)],
    },
    coding: 'identity',
  }
}

/** @param transactionOf hash of the transaction of a sampled deposit. @param claims on network 1. */
export function questionsOf(
  { population, bridges }: Traffic,
  transactionOf: (depositCount: number) => Uint8Array,
  claims: number,
): readonly Question[] {
  const some = sampledDeposits(bridges)
  const list = (filters: Partial<BridgesQuery>, pageNumber = 1, pageSize = ROWS): NamedQuery => ({
    operation: 'getBridges',
    query: { networkId: L1, pageNumber, pageSize, ...filters },
    coding: 'identity',
  })
  const claimList = (filters: Partial<ClaimsQuery>, pageNumber = 1, pageSize = ROWS): NamedQuery => ({
    operation: 'getClaims',
    query: { networkId: asNetworkId(1), pageNumber, pageSize, ...filters },
    coding: 'identity',
  })
  const pages = Math.floor(bridges / ROWS)
  const thousands = Math.floor(bridges / 1000)
  const claimPages = Math.floor(claims / ROWS)
  const around = (page: number, last: number, ask: (page: number) => NamedQuery): NamedQuery[] =>
    Array.from({ length: Math.min(8, last) }, (_, at) => ask(Math.max(1, Math.min(last, page + at))))
  const { busiest, absent, sponsor } = population
  const users = [...Array(16).keys()].map((at) => population.user(8 + at))
  const networkIds = [asNetworkId(1), asNetworkId(2)]
  const one = [asNetworkId(1)]
  /** Number of the middle page of a list that holds this share of all bridges. */
  const middleOf = (share: number): number => Math.floor((bridges * share) / ROWS / 2)
  const filtered = { targetRatio: 10, isSteady: true } as const
  return [
    {
      name: 'one bridge by deposit count',
      queries: some.map(pointOf),
      targetUs: 15,
      targetRatio: 3,
      isSteady: true,
    },
    {
      name: 'one bridge by transaction hash',
      queries: some.map((depositCount) => list({ transactionHash: transactionOf(depositCount) })),
      targetRatio: 3,
      isSteady: true,
    },
    { name: 'page 1', queries: [list({})], targetUs: 60, isSteady: true },
    {
      name: 'middle page',
      queries: around(pages >> 1, pages, (page) => list({}, page)),
      targetUs: 60,
      isSteady: true,
    },
    { name: 'last page', queries: [list({}, pages)], targetUs: 60, isSteady: true },
    { name: 'page 1 of 1,000', queries: [list({}, 1, 1000)], targetUs: 400, isSteady: true },
    {
      name: 'middle page of 1,000',
      queries: around(thousands >> 1, thousands, (page) => list({}, page, 1000)),
      targetUs: 400,
      isSteady: true,
    },
    { name: 'busiest sender', queries: [list({ fromAddress: busiest })], targetUs: 300, ...filtered },
    {
      name: 'busiest sender, middle page',
      queries: around(middleOf(0.05), middleOf(0.05), (page) => list({ fromAddress: busiest }, page)),
      targetUs: 300,
      ...filtered,
    },
    {
      name: 'busiest sender, page of 1,000',
      queries: [list({ fromAddress: busiest }, 1, 1000)],
      targetUs: 3000,
    },
    {
      name: 'other senders',
      queries: users.map((fromAddress) => list({ fromAddress })),
      targetUs: 300,
    },
    { name: 'absent sender', queries: [list({ fromAddress: absent })] },
    { name: 'busiest receiver', queries: [list({ toAddress: busiest })], targetUs: 300, ...filtered },
    { name: 'one network', queries: [list({ networkIds: one })], ...filtered },
    {
      name: 'one network, middle page',
      queries: around(middleOf(0.5), middleOf(0.5), (page) => list({ networkIds: one }, page)),
      ...filtered,
    },
    { name: 'two networks', queries: [list({ networkIds })], ...filtered },
    {
      name: 'two networks, middle page',
      queries: around(middleOf(0.7), middleOf(0.7), (page) => list({ networkIds }, page)),
      ...filtered,
    },
    { name: 'ready', queries: [list({ readyForClaim: true })], ...filtered },
    {
      name: 'ready, middle page',
      queries: around(middleOf(0.1), middleOf(0.1), (page) => list({ readyForClaim: true }, page)),
      ...filtered,
    },
    { name: 'ready, one network', queries: [list({ readyForClaim: true, networkIds: one })], ...filtered },
    { name: 'claimed', queries: [list({ claimed: true })], ...filtered },
    {
      name: 'claimed, middle page',
      queries: around(middleOf(0.8), middleOf(0.8), (page) => list({ claimed: true }, page)),
      ...filtered,
    },
    { name: 'not claimed, two networks', queries: [list({ claimed: false, networkIds })], ...filtered },
    {
      name: 'busiest sender, one network',
      queries: [list({ fromAddress: busiest, networkIds: one })],
      ...filtered,
    },
    {
      name: 'busiest sender, two networks, not claimed',
      queries: [list({ fromAddress: busiest, networkIds, claimed: false })],
      ...filtered,
    },
    {
      name: 'messages',
      queries: [list({ leafType: 1 })],
      targetRatio: 10,
    },
    {
      name: 'messages to one network, claimed',
      queries: [list({ leafType: 1, networkIds: one, claimed: true })],
      targetRatio: 10,
    },
    {
      name: 'range of blocks',
      queries: [
        list({
          fromBlock: asBlockNumber(Math.floor(bridges / 80)),
          toBlock: asBlockNumber(Math.floor(bridges / 40)),
        }),
      ],
    },
    {
      name: 'claims, page 1',
      queries: [claimList({})],
      targetUs: 60,
    },
    {
      name: 'claims, middle page',
      queries: around(claimPages >> 1, claimPages, (page) => claimList({}, page)),
      targetUs: 60,
    },
    { name: 'claims, last page', queries: [claimList({}, Math.max(1, claimPages))], targetUs: 60 },
    { name: 'claims from one network', queries: [claimList({ networkIds: [L1] })], targetRatio: 10 },
    {
      name: 'claims of the busiest claimer',
      queries: [claimList({ fromAddress: sponsor })],
      targetRatio: 10,
    },
    { name: 'claims to the busiest receiver', queries: [claimList({ toAddress: busiest })], targetRatio: 10 },
  ]
}
