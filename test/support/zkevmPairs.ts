import { getAddress } from 'viem/utils'
import { type ExpectedDeposit, expectedDeposits, expectedProof } from './fakeChainModel.js'
import type { SmallWorld } from './fakeChainScenario.js'
import type { FakeClaim, FakeDeposit } from './fakeState.js'
import type { Exchanged, Pair } from './pairs.js'

/*
 * What zkevm-bridge-service and the proof API in front of it are asked and answer, written from their description and not from our code.
 * docs/compatibility.md is made of these lists, and tests hold each answer against them letter by letter.
 */

export const zkevmAbsentEndpoints: readonly (readonly [path: string, why: string])[] = [
  ['/pending-bridges', 'not made yet'],
  ['/backward-let', 'not made yet'],
]

function expected({ world }: SmallWorld, { networkId, depositCount }: FakeDeposit): ExpectedDeposit {
  return expectedDeposits(world, networkId)[depositCount]!
}

/** The row of a bridge. */
export function zkevmDepositRow(deposit: ExpectedDeposit): object {
  return {
    leaf_type: deposit.leafType,
    orig_net: deposit.originNetwork,
    orig_addr: getAddress(deposit.originAddress),
    amount: String(deposit.amount),
    dest_net: deposit.destinationNetwork,
    dest_addr: getAddress(deposit.destinationAddress),
    block_num: String(deposit.blockNumber),
    deposit_cnt: deposit.depositCount,
    network_id: deposit.networkId,
    tx_hash: deposit.transactionHash,
    claim_tx_hash: deposit.claimTransactionHash ?? '',
    metadata: deposit.metadata,
    ready_for_claim: deposit.readyForClaim || deposit.claimTransactionHash !== null,
    global_index: String(deposit.globalIndex),
  }
}

function proofBody({ world }: SmallWorld, deposit: FakeDeposit, index: number): string {
  const { localExitRootBranch, rollupExitRootBranch } = expectedProof(world, deposit, index)
  const leaf = world.network(0).head.state.l1InfoLeaves[index]!
  return JSON.stringify({
    proof: {
      merkle_proof: localExitRootBranch,
      rollup_merkle_proof: rollupExitRootBranch,
      main_exit_root: leaf.mainnetExitRoot,
      rollup_exit_root: leaf.rollupExitRoot,
    },
  })
}

/** Newest first; of those with one time the later network's first. */
export function byTime<Row extends FakeDeposit | FakeClaim>(rows: readonly Row[]): readonly Row[] {
  const place = new Map(rows.map((row, at) => [row, at]))
  return [...rows].sort(
    (left, right) =>
      right.timestampSec - left.timestampSec ||
      right.networkId - left.networkId ||
      place.get(right)! - place.get(left)!,
  )
}

function depositsTo({ world }: SmallWorld, receiver: string): readonly ExpectedDeposit[] {
  return byTime(
    [0, 1, 2]
      .flatMap((networkId) => expectedDeposits(world, networkId))
      .filter(({ destinationAddress }) => destinationAddress === receiver),
  )
}

function depositsBody(deposits: readonly ExpectedDeposit[], total = deposits.length): string {
  return JSON.stringify({ deposits: deposits.map(zkevmDepositRow), total_cnt: String(total) })
}

/** The row of a claim. */
export function zkevmClaimRow(
  claim: Omit<FakeClaim, 'caller' | 'transactionSender' | 'isSetByAdministrator'>,
): object {
  return {
    index: claim.depositCount,
    orig_net: claim.originNetwork,
    orig_addr: getAddress(claim.originAddress),
    amount: String(claim.amount),
    network_id: claim.networkId,
    dest_addr: getAddress(claim.destinationAddress),
    block_num: String(claim.blockNumber),
    tx_hash: claim.transactionHash,
    rollup_index: claim.sourceNetwork === 0 ? 0 : claim.sourceNetwork - 1,
    mainnet_flag: claim.sourceNetwork === 0,
    global_index: String(claim.globalIndex),
  }
}

/** Those that can be claimed, or were. */
function claimable({ claimed, ready, claimedOnL1, betweenRollups }: SmallWorld): readonly FakeDeposit[] {
  return [claimed, ready, claimedOnL1, betweenRollups]
}

/** Pairs of a proof for each claimable deposit. @param spell makes the query string. */
function proofs(small: SmallWorld, spell: (networkId: number, depositCount: number) => string): Exchanged[] {
  return claimable(small).map((deposit) => ({
    query: spell(deposit.networkId, deposit.depositCount),
    body: proofBody(small, deposit, expected(small, deposit).usableIndex!),
  }))
}

/** Pairs of the record of each named deposit. */
function records(small: SmallWorld): Exchanged[] {
  return [...claimable(small), small.pending, small.unsettled].map((deposit) => ({
    query: `net_id=${deposit.networkId}&deposit_cnt=${deposit.depositCount}`,
    body: JSON.stringify({ deposit: zkevmDepositRow(expected(small, deposit)) }),
  }))
}

const failed = (code: number, message: string): string => JSON.stringify({ code, message, details: [] })

const NOT_STORED = { status: 500, body: failed(2, 'not found in the Storage') }
const NOT_SYNCED = { status: 500, body: failed(2, 'not synchronized deposit') }

/** @param name as told in the refusal. */
function numberFaults(name: string, given: string = name): Exchanged[] {
  return [
    ['abc', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['4294967296', 'value out of range'],
  ].map(([text, why]) => ({
    query: `${given}=${text}`,
    status: 400,
    body: failed(3, `parsing field "${name}": strconv.ParseUint: parsing "${text}": ${why}`),
  }))
}

const OWN_FLAG =
  'ready says that a claim passes now, or that it was claimed; the original takes no look at the destination between two L2s, and keeps what a removed root made ready'

function farBack(endpoint: string): Pair {
  return {
    endpoint,
    about: '`offset` above 10,000 for all networks',
    verdict: 'differs',
    why: 'the rows of all networks are walked one by one: 400 with the code 3. `net_id` and the lists of our own API reach every row',
    exchanged: (small) => [
      {
        value: small.ready.destinationAddress,
        query: 'offset=10001',
        status: 400,
        body: '{"code":3,"message":"offset 10001 is above 10000, the most for the rows of all networks","details":[]}',
      },
    ],
  }
}

export const zkevmPairs: readonly Pair[] = [
  {
    endpoint: '/bridges/{dest_addr}',
    about: 'rows of all networks, `total_cnt`; `offset`, `limit`',
    verdict: 'better',
    why: `by the time of their blocks, newest first; the original sorts by when it has read them. ${OWN_FLAG}`,
    exchanged: (small) => {
      const receiver = small.ready.destinationAddress
      const all = depositsTo(small, receiver)
      const part = (from: number, to: number) => depositsBody(all.slice(from, to), all.length)
      return [
        { value: receiver, query: '', body: part(0, 25) },
        { value: receiver.slice(2).toUpperCase(), query: '', body: part(0, 25) },
        { value: getAddress(receiver), query: 'limit=2', body: part(0, 2) },
        { value: receiver, query: 'limit=3&offset=2', body: part(2, 5) },
        { value: receiver, query: 'limit=1000000&offset=0', body: part(0, 100) },
        { value: receiver, query: 'limit=0', body: part(0, 25) },
        { value: receiver, query: 'offset=4000', body: depositsBody([], all.length) },
        { value: receiver, query: `dest_addr=0x${'ee'.repeat(20)}`, body: part(0, 25) },
        { value: `0x${'ee'.repeat(20)}`, query: '', body: depositsBody([]) },
        { value: 'nobody', query: '', body: depositsBody(depositsTo(small, `0x${'00'.repeat(20)}`)) },
        ...numberFaults('limit').map((pair) => ({ ...pair, value: receiver })),
      ]
    },
  },
  {
    endpoint: '/bridges/{dest_addr}',
    about: '`net_id`, `dest_net`',
    verdict: 'same',
    exchanged: (small) => {
      const receiver = small.ready.destinationAddress
      const all = depositsTo(small, receiver)
      const having = (filter: (deposit: ExpectedDeposit) => boolean) => depositsBody(all.filter(filter))
      return [
        { query: 'net_id=0', body: having(({ networkId }) => networkId === 0) },
        { query: 'netId=1', body: having(({ networkId }) => networkId === 1) },
        { query: 'net_id=77', body: depositsBody([]) },
        { query: 'dest_net=0', body: having(({ destinationNetwork }) => destinationNetwork === 0) },
        {
          query: 'net_id=0&dest_net=2',
          body: having(({ networkId, destinationNetwork }) => networkId === 0 && destinationNetwork === 2),
        },
      ].map((pair) => ({ ...pair, value: receiver }))
    },
  },
  farBack('/bridges/{dest_addr}'),
  {
    endpoint: '/claims/{dest_addr}',
    about: 'rows of all networks, `total_cnt`; `offset`, `limit`',
    verdict: 'better',
    why: '`block_num` is that of the claim; the original says "0". Claims in force, by time',
    exchanged: (small) => {
      const receiver = small.claimed.destinationAddress
      const all = byTime(
        [0, 1, 2]
          .flatMap((networkId) => small.world.network(networkId).claims())
          .filter(({ destinationAddress }) => destinationAddress === receiver),
      )
      const part = (from: number, to: number) =>
        JSON.stringify({ claims: all.slice(from, to).map(zkevmClaimRow), total_cnt: String(all.length) })
      return [
        { value: receiver, query: '', body: part(0, 25) },
        { value: receiver, query: 'limit=1', body: part(0, 1) },
        { value: receiver, query: 'limit=1&offset=1', body: part(1, 2) },
      ]
    },
  },
  farBack('/claims/{dest_addr}'),
  {
    endpoint: '/bridge',
    about: 'the record; `net_id`, `deposit_cnt`',
    verdict: 'better',
    why: OWN_FLAG,
    exchanged: records,
  },
  {
    endpoint: '/bridge',
    about: 'camel case, 0 where a parameter is missing, unknown parameters',
    verdict: 'same',
    exchanged: (small) => {
      const first = expectedDeposits(small.world, 0)[0]!
      const { networkId, depositCount } = small.claimedOnL1
      return [
        { query: '', body: JSON.stringify({ deposit: zkevmDepositRow(first) }) },
        { query: 'networkId=1&depositCount=2', body: JSON.stringify({ deposit: zkevmDepositRow(first) }) },
        {
          query: `netId=${networkId}&depositCnt=${depositCount}`,
          body: JSON.stringify({ deposit: zkevmDepositRow(expected(small, small.claimedOnL1)) }),
        },
      ]
    },
  },
  {
    endpoint: '/bridge',
    about: 'what is not there; what is no number',
    verdict: 'same',
    exchanged: () => [
      { query: 'net_id=0&deposit_cnt=4000', ...NOT_STORED },
      { query: 'net_id=77&deposit_cnt=0', ...NOT_STORED },
      ...numberFaults('net_id'),
      ...numberFaults('deposit_cnt'),
      ...numberFaults('net_id', 'netId'),
    ],
  },
  {
    endpoint: '/merkle-proof',
    about: 'proofs',
    verdict: 'better',
    why: 'under the smallest leaf that the destination accepts; the original takes the newest, for bridges between two L2s that of the source',
    exchanged: (small) => proofs(small, (networkId, count) => `net_id=${networkId}&deposit_cnt=${count}`),
  },
  {
    endpoint: '/merkle-proof',
    about: 'not ready; not there',
    verdict: 'same',
    exchanged: ({ pending, unsettled }) => [
      ...[pending, unsettled].map(({ networkId, depositCount }) => ({
        query: `net_id=${networkId}&deposit_cnt=${depositCount}`,
        ...NOT_SYNCED,
      })),
      { query: 'net_id=1&deposit_cnt=4000', ...NOT_STORED },
      { query: 'net_id=77&deposit_cnt=0', ...NOT_STORED },
      ...numberFaults('deposit_cnt'),
    ],
  },
  {
    endpoint: '/v2/merkle-proof',
    about: '`network_id`, `deposit_count`, in both spellings',
    verdict: 'same',
    exchanged: (small) => [
      ...proofs(small, (networkId, count) => `network_id=${networkId}&deposit_count=${count}`),
      ...proofs(small, (networkId, count) => `networkId=${networkId}&depositCount=${count}`),
      ...numberFaults('network_id', 'networkId'),
    ],
  },
  {
    endpoint: '/merkle-proof-by-ger',
    about: 'proofs under a root; a root that is unknown',
    verdict: 'same',
    exchanged: (small) => {
      const leaves = small.world.network(0).head.state.l1InfoLeaves
      const deposit = small.ready
      const index = expected(small, deposit).firstCoveringIndex!
      const of = `net_id=${deposit.networkId}&deposit_cnt=${deposit.depositCount}`
      const unknown = { status: 500, body: failed(2, 'l1GER not found in the Storage') }
      return [
        ...leaves.slice(index).map((leaf) => ({
          query: `${of}&ger=${leaf.globalExitRoot}`,
          body: proofBody(small, deposit, leaf.index),
        })),
        { query: `${of}&ger=0x${'12'.repeat(32)}`, ...unknown },
        { query: of, ...unknown },
      ]
    },
  },
  {
    endpoint: '/merkle-proof-by-ger',
    about: 'a root that does not cover the bridge',
    verdict: 'better',
    why: '"not synchronized"; the original answers 200 with a proof that the contract refuses',
    exchanged: ({ world, pending }) => [
      {
        query: `net_id=0&deposit_cnt=${pending.depositCount}&ger=${world.network(0).head.state.l1InfoLeaves[0]!.globalExitRoot}`,
        ...NOT_SYNCED,
      },
    ],
  },
  {
    endpoint: '/tokenwrapped',
    about: '`orig_token_addr`, `orig_net`',
    verdict: 'better',
    why: 'of several networks that hold the token, the one that wrapped it first; the original takes any',
    exchanged: ({ world }) => {
      const [mapping] = world.network(1).head.state.tokenMappings
      const wrapped = {
        orig_net: 0,
        original_token_addr: getAddress(mapping!.originTokenAddress),
        wrapped_token_addr: getAddress(mapping!.wrappedTokenAddress),
        network_id: 1,
        name: 'Fake',
        symbol: 'FK',
        decimals: 18,
      }
      const body = JSON.stringify({ tokenwrapped: wrapped })
      return [
        { query: `orig_token_addr=${mapping!.originTokenAddress}&orig_net=0`, body },
        { query: `origTokenAddr=${getAddress(mapping!.originTokenAddress)}`, body },
        { query: `orig_token_addr=${mapping!.wrappedTokenAddress}&orig_net=0`, ...NOT_STORED },
        { query: 'orig_token_addr=x', ...NOT_STORED },
        ...numberFaults('orig_net'),
      ]
    },
  },
]

const refused = (error: string, message: string): string => JSON.stringify({ error, message })

/** Refusals of the proof API whose `error` is what clients look for; their texts are ours. */
export const proofPairs: readonly Pair[] = [
  {
    endpoint: '/merkle-proof',
    about: 'proofs; `networkId`, `depositCount`',
    verdict: 'same',
    exchanged: (small) => [
      ...proofs(small, (networkId, count) => `networkId=${networkId}&depositCount=${count}`),
      ...proofs(small, (networkId, count) => `net_id=${networkId}&deposit_cnt=${count}`),
    ],
  },
  {
    endpoint: '/merkle-proof',
    about: 'a network that is not there',
    verdict: 'same',
    exchanged: () => [
      {
        query: 'networkId=77&depositCount=0',
        status: 400,
        body: refused('invalid_network_id', "Network id doesn't exist or not being tracked"),
      },
    ],
  },
  {
    endpoint: '/merkle-proof',
    about: '`deposit_not_synced`, `root_not_synced`, `destination_not_supported`; what is no number',
    verdict: 'differs',
    why: 'the codes are those that its clients look for; texts and statuses are ours, since the original tells them nowhere',
    exchanged: ({ world, pending, unsettled }) => {
      const leaves = world.network(0).head.state.l1InfoLeaves.length
      const deposits = world.network(0).deposits().length
      return [
        {
          query: 'networkId=0&depositCount=4000',
          status: 404,
          body: refused(
            'deposit_not_synced',
            `Deposit 4000 of network 0 is not indexed: ${deposits} deposits are`,
          ),
        },
        ...[pending, unsettled].map(({ networkId, depositCount }) => ({
          query: `networkId=${networkId}&depositCount=${depositCount}`,
          status: 404,
          body: refused(
            'root_not_synced',
            `Deposit ${depositCount} of network ${networkId} is in none of the ${leaves} L1 info leaves yet`,
          ),
        })),
        {
          query: 'depositCount=1',
          status: 400,
          body: refused('invalid_parameter', 'networkId is mandatory'),
        },
        {
          query: 'networkId=1&depositCount=x',
          status: 400,
          body: refused(
            'invalid_parameter',
            'invalid depositCount parameter: strconv.ParseUint: parsing "x": invalid syntax',
          ),
        },
      ]
    },
  },
  {
    endpoint: '/bridge',
    about: 'the record; `net_id`, `deposit_cnt`',
    verdict: 'better',
    why: OWN_FLAG,
    exchanged: records,
  },
]
