import { type ExpectedDeposit, expectedDeposits, expectedProof } from './fakeChainModel.js'
import type { SmallWorld } from './fakeChainScenario.js'
import type { FakeDeposit } from './fakeState.js'
import type { Exchanged, Pair } from './pairs.js'
import { byTime } from './zkevmPairs.js'

/*
 * What Bridge Hub is asked and answers, written from its description and not from our code. docs/compatibility.md is made of these lists,
 * and tests hold each answer against them letter by letter.
 */

export const hubAbsentEndpoints: readonly (readonly [path: string, why: string])[] = [
  [
    '/token-metadata/{tokenNetwork}/{tokenAddress}',
    'read from the chains at each request there; queries ask no chain here',
  ],
]

/** A ULID: 48 bits of milliseconds and 80 that are ours, in Crockford's base 32. */
function ulid({ timestampSec, networkId, depositCount }: FakeDeposit): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  const value = ((BigInt(timestampSec) * 1000n) << 80n) | (BigInt(networkId) << 40n) | BigInt(depositCount)
  return Array.from({ length: 26 }, (_, at) => alphabet[Number((value >> BigInt(5 * (25 - at))) & 31n)]).join(
    '',
  )
}

function statusOf(deposit: ExpectedDeposit): string {
  if (deposit.claimTransactionHash !== null) return 'CLAIMED'
  return deposit.readyForClaim ? 'READY_TO_CLAIM' : 'BRIDGED'
}

/** The row of a bridge. */
export function hubRow(deposit: ExpectedDeposit): object {
  const isClaimed = deposit.claimTransactionHash !== null
  return {
    hubUID: ulid(deposit),
    transactionHash: deposit.transactionHash,
    blockNumber: deposit.blockNumber,
    transactionIndex: deposit.logIndex,
    timestamp: deposit.timestampSec,
    leafType: deposit.leafType === 0 ? 'ASSET' : 'MESSAGE',
    originTokenNetwork: deposit.originNetwork,
    originTokenAddress: deposit.originAddress,
    sourceNetwork: deposit.networkId,
    destinationNetwork: deposit.destinationNetwork,
    receiverAddress: deposit.destinationAddress,
    fromAddress: deposit.leafType === 1 ? deposit.originAddress : deposit.caller,
    txSender: deposit.transactionSender,
    amount: String(deposit.amount),
    depositCount: deposit.depositCount,
    bridgeHash: deposit.leaf,
    status: statusOf(deposit),
    lastUpdatedAt: 1000 * deposit.timestampSec,
    ...(deposit.usableIndex === null ? {} : { leafIndexForProof: deposit.usableIndex }),
    ...(isClaimed
      ? { claimTransactionHash: deposit.claimTransactionHash, globalIndex: String(deposit.globalIndex) }
      : {}),
  }
}

/** Of all networks, newest first. */
function all({ world }: SmallWorld): readonly ExpectedDeposit[] {
  return byTime([0, 1, 2].flatMap((networkId) => expectedDeposits(world, networkId)))
}

/** Rows `from` to `to` − 1 of a list, as a page with this limit. */
function page(deposits: readonly ExpectedDeposit[], from = 0, limit = 20): string {
  const rows = deposits.slice(from, from + limit)
  return JSON.stringify({
    status: 'success',
    data: rows.map(hubRow),
    pagination: {
      total: Math.max(0, deposits.length - from),
      limit,
      ...(rows.length === 0 ? {} : { nextStartAfterCursor: String(from + rows.length) }),
    },
  })
}

const failed = (code: number, name: string, message: string): Omit<Exchanged, 'query'> => ({
  status: code,
  body: JSON.stringify({ status: 'error', message, name, code, details: {} }),
})

const invalid = (message: string) => failed(400, 'ValidationError', message)
const missing = (message: string) => failed(404, 'NotFoundError', message)
const NO_TRANSACTION = 'Transaction not found for the given deposit count and source networkId'

function proof({ world }: SmallWorld, deposit: FakeDeposit, index: number): string {
  const { localExitRootBranch, rollupExitRootBranch } = expectedProof(world, deposit, index)
  const leaf = world.network(0).head.state.l1InfoLeaves[index]!
  return JSON.stringify({
    status: 'success',
    data: {
      proof_local_exit_root: localExitRootBranch,
      proof_rollup_exit_root: rollupExitRootBranch,
      l1_info_tree_leaf: {
        block_num: leaf.blockNumber,
        l1_info_tree_index: index,
        previous_block_hash: leaf.previousBlockHash,
        timestamp: leaf.timestampSec,
        mainnet_exit_root: leaf.mainnetExitRoot,
        rollup_exit_root: leaf.rollupExitRoot,
        global_exit_root: leaf.globalExitRoot,
        hash: leaf.leaf,
      },
      bridge_tx_metadata: deposit.metadata,
    },
  })
}

function mappingsBody({ world }: SmallWorld): string {
  const [mapping] = world.network(1).head.state.tokenMappings
  return JSON.stringify({
    status: 'success',
    data: [
      {
        blockNumber: mapping!.blockNumber,
        transactionIndex: mapping!.logIndex,
        timestamp: mapping!.timestampSec,
        transactionHash: mapping!.transactionHash,
        originTokenNetwork: mapping!.originNetwork,
        originTokenAddress: mapping!.originTokenAddress,
        wrappedTokenNetwork: 1,
        wrappedTokenAddress: mapping!.wrappedTokenAddress,
        lastUpdatedAt: 1000 * mapping!.timestampSec,
      },
    ],
    pagination: { total: 1, limit: 20, nextStartAfterCursor: 1 },
  })
}

function noMappings(limit = 20): string {
  return JSON.stringify({ status: 'success', data: [], pagination: { total: 0, limit } })
}

export const hubPairs: readonly Pair[] = [
  {
    endpoint: '/transactions',
    about: 'rows of all networks; `limit`, `startAfter`, `total`',
    verdict: 'differs',
    why: 'without `leafIndex`, `claimBlockNumber` and `claimTimestamp`; `hubUID` is ours, and `lastUpdatedAt` the time of the block, since neither is stored; a cursor is the number of rows in front, up to 10,000, so that rows that arrive meanwhile show some twice and hide none',
    exchanged: (small) => [
      { query: '', body: page(all(small)) },
      { query: 'limit=3', body: page(all(small), 0, 3) },
      { query: 'limit=3&startAfter=3', body: page(all(small), 3, 3) },
      { query: 'limit=0', body: page(all(small)) },
      { query: 'startAfter=4000', body: page(all(small), 4000) },
      { query: 'limit=51', ...invalid('limit must be less than or equal to 50') },
      { query: 'limit=x', ...invalid('limit must be a whole number') },
      { query: 'startAfter=10001', ...invalid('startAfter 10001 is above 10000') },
    ],
  },
  {
    endpoint: '/transactions',
    about: '`order`',
    verdict: 'better',
    why: 'pages follow one another in both orders; ascending, the original goes back from the cursor',
    exchanged: (small) => {
      const rising = [...all(small)].reverse()
      return [
        { query: 'order=desc', body: page(all(small)) },
        { query: 'order=asc', body: page(rising) },
        { query: 'order=asc&limit=4&startAfter=4', body: page(rising, 4, 4) },
        { query: 'order=up', ...invalid("order must be 'asc' or 'desc'") },
      ]
    },
  },
  {
    endpoint: '/transactions',
    about: '`sourceNetworkIds`, `destinationNetworkIds`',
    verdict: 'same',
    exchanged: (small) => {
      const having = (filter: (deposit: ExpectedDeposit) => boolean) => page(all(small).filter(filter))
      const rising = expectedDeposits(small.world, 1)
      return [
        { query: 'sourceNetworkIds=1', body: having(({ networkId }) => networkId === 1) },
        { query: 'sourceNetworkIds=1&order=asc', body: page(rising) },
        { query: 'sourceNetworkIds=2,0', body: having(({ networkId }) => networkId !== 1) },
        { query: 'sourceNetworkIds=0,2,77', body: having(({ networkId }) => networkId !== 1) },
        { query: 'sourceNetworkIds=77', body: page([]) },
        {
          query: 'destinationNetworkIds=0',
          body: having(({ destinationNetwork }) => destinationNetwork === 0),
        },
        {
          query: 'sourceNetworkIds=0&destinationNetworkIds=2,3',
          body: having(
            ({ networkId, destinationNetwork }) => networkId === 0 && [2, 3].includes(destinationNetwork),
          ),
        },
        { query: 'sourceNetworkIds=1,', ...invalid('sourceNetworkIds must be a whole number') },
        {
          query: 'sourceNetworkIds=1000000000,2000000000',
          ...invalid('sourceNetworkIds must contain at most 18 character(s)'),
        },
      ]
    },
  },
  {
    endpoint: '/transactions',
    about: '`fromAddress`',
    verdict: 'differs',
    why: 'finds a bridge by `txSender`, too',
    exchanged: (small) => {
      const sender = small.unsettled.caller
      const of = all(small).filter(
        ({ caller, transactionSender }) => caller === sender || transactionSender === sender,
      )
      return [
        { query: `fromAddress=${sender}`, body: page(of) },
        { query: `fromAddress=0x${sender.slice(2).toUpperCase()}`, body: page(of) },
        { query: 'fromAddress=me', ...invalid('fromAddress must be 0x and 40 hex digits') },
      ]
    },
  },
  {
    endpoint: '/transactions',
    about: '`status`',
    verdict: 'differs',
    why: 'no bridge is told as `LEAF_INCLUDED`: it stays `BRIDGED` until its destination accepts a leaf that covers it',
    exchanged: (small) => [
      ...['BRIDGED', 'READY_TO_CLAIM', 'CLAIMED'].map((status) => ({
        query: `status=${status}`,
        body: page(all(small).filter((deposit) => statusOf(deposit) === status)),
      })),
      { query: 'status=LEAF_INCLUDED', body: page([]) },
      {
        query: 'status=claimed',
        ...invalid('status must be one of BRIDGED, LEAF_INCLUDED, READY_TO_CLAIM, CLAIMED'),
      },
    ],
  },
  {
    endpoint: '/transactions',
    about: '`updatedSince`',
    verdict: 'differs',
    why: 'read, but it narrows nothing: when the state of a bridge has changed is not stored',
    exchanged: (small) => [{ query: 'updatedSince=1700000000000', body: page(all(small)) }],
  },
  {
    endpoint: '/transactions/{sourceNetworkId}/{depositCount}',
    about: 'the row; `null` where there is none',
    verdict: 'same',
    exchanged: (small) => [
      ...[small.ready, small.claimed, small.pending, small.unsettled].map(({ networkId, depositCount }) => ({
        value: `${networkId}/${depositCount}`,
        query: '',
        body: JSON.stringify({
          status: 'success',
          data: hubRow(expectedDeposits(small.world, networkId)[depositCount]!),
        }),
      })),
      ...['1/4000', '77/0'].map((value) => ({ value, query: '', body: '{"status":"success","data":null}' })),
      { value: '1/x', query: '', ...invalid('depositCount must be a whole number') },
    ],
  },
  {
    endpoint: '/token-mappings',
    about:
      'rows; `originTokenAddress`, `wrappedTokenAddress`, `originNetworkIds`, `wrappedNetworkIds`, `limit`, `startAfter`',
    verdict: 'differs',
    why: 'one network in each list, and one of both addresses; `wrappedTokenAddress` finds the token on its home network, too; a cursor is the number of rows in front, and belongs to its limit',
    exchanged: (small) => {
      const [mapping] = small.world.network(1).head.state.tokenMappings
      const { originTokenAddress, wrappedTokenAddress } = mapping!
      return [
        { query: '', body: mappingsBody(small) },
        { query: `originTokenAddress=${originTokenAddress}&originNetworkIds=0`, body: mappingsBody(small) },
        {
          query: `wrappedTokenAddress=${wrappedTokenAddress}&wrappedNetworkIds=1`,
          body: mappingsBody(small),
        },
        { query: `originTokenAddress=${wrappedTokenAddress}`, body: noMappings() },
        { query: 'wrappedNetworkIds=2', body: noMappings() },
        { query: 'originNetworkIds=0,1', ...invalid('originNetworkIds may hold one network') },
        { query: 'limit=3&startAfter=1', ...invalid('startAfter belongs to another limit') },
        { query: 'wrappedNetworkIds=77', ...missing('network 77 is not served here') },
      ]
    },
  },
  {
    endpoint: '/token-mappings/{tokenNetwork}/{tokenAddress}',
    about: 'mappings of a token on either side',
    verdict: 'differs',
    why: 'those of tokens with the same address on other networks, too; rows say where each is at home',
    exchanged: (small) => {
      const [mapping] = small.world.network(1).head.state.tokenMappings
      const body = mappingsBody(small).replace('"limit":20', '"limit":50')
      return [
        { value: `0/${mapping!.originTokenAddress}`, query: '', body },
        { value: `1/${mapping!.wrappedTokenAddress}`, query: '', body },
        { value: `2/${mapping!.wrappedTokenAddress}`, query: '', body },
        { value: `1/0x${'ee'.repeat(20)}`, query: '', body: noMappings(50) },
        { value: '1/x', query: '', ...invalid('tokenAddress must be 0x and 40 hex digits') },
      ]
    },
  },
  {
    endpoint: '/claim-proof',
    about: 'proof and `bridge_tx_metadata`; `sourceNetworkId`, `depositCount`, `leafIndex`',
    verdict: 'differs',
    why: 'without `block_pos` of the leaf, which is not stored; a bridge that was claimed has a proof, too: the original answers 400, `Transaction already claimed`',
    exchanged: (small) => {
      const { ready, claimed, claimedOnL1, betweenRollups } = small
      return [ready, claimed, claimedOnL1, betweenRollups].flatMap((deposit) => {
        const { networkId, depositCount } = deposit
        const of = `sourceNetworkId=${networkId}&depositCount=${depositCount}`
        const index = expectedDeposits(small.world, networkId)[depositCount]!.usableIndex!
        const body = proof(small, deposit, index)
        return [
          { query: of, body },
          { query: `${of}&leafIndex=${index}`, body },
        ]
      })
    },
  },
  {
    endpoint: '/claim-proof',
    about: 'not ready; not there',
    verdict: 'same',
    exchanged: ({ pending, unsettled }) => [
      ...[pending, unsettled].map(({ networkId, depositCount }) => ({
        query: `sourceNetworkId=${networkId}&depositCount=${depositCount}`,
        ...invalid('Transaction not ready to claim'),
      })),
      { query: 'sourceNetworkId=1&depositCount=4000', ...missing(NO_TRANSACTION) },
      { query: 'sourceNetworkId=77&depositCount=0', ...missing(NO_TRANSACTION) },
      {
        query: `sourceNetworkId=0&depositCount=${pending.depositCount}&leafIndex=0`,
        ...missing(`bridgesync L1 has not indexed deposit count ${pending.depositCount} yet, retry later`),
      },
      { query: 'depositCount=1', ...invalid('sourceNetworkId must be a whole number') },
    ],
  },
]
