import type { Hex } from 'viem'
import { getAddress } from 'viem/utils'
import { expectedDeposits, expectedProof } from './fakeChainModel.js'
import type { SmallWorld } from './fakeChainScenario.js'
import type { FakeClaim, FakeDeposit, FakeL1InfoLeaf } from './fakeState.js'
import { depositLeaf, ZERO_ADDRESS } from './naiveTree.js'
import type { Exchanged, Pair } from './pairs.js'

/*
 * What aggkit's bridge service asks and answers, written from its description and not from our code: docs/compatibility.md is made of
 * this list, and tests hold each answer against it letter by letter.
 */

/** An endpoint of the original that we do not have, and why. */
export const absentEndpoints: readonly (readonly [path: string, why: string])[] = [
  [
    '/bridge/v1/legacy-token-migrations',
    'amount, sender and both tokens of MigrateLegacyToken are not stored',
  ],
  ['/bridge/v1/unset-claims', 'events that undo a claim are not stored, only that it is not in force'],
  ['/bridge/v1/set-claims', 'not made yet'],
  ['/bridge/v1/removed-gers', 'block and log of a removal are not stored'],
  ['/bridge/v1/claims-by-ger', 'exit roots of claims are not stored'],
  ['/bridge/v1/bridges-by-content', 'there is no list of deposits by their leaf'],
  ['/bridge/v1/claim-candidates', 'not made yet'],
  ['/bridge/v1/last-reorg-event', 'reorgs are counted, but not stored'],
  ['/bridge/v1/autoclaim/bridges', 'we claim nothing'],
]

const error = (text: string): string => JSON.stringify({ error: text })

function bridgeRow(deposit: FakeDeposit): object {
  return {
    block_num: deposit.blockNumber,
    block_pos: deposit.logIndex,
    from_address: getAddress(deposit.leafType === 1 ? deposit.originAddress : deposit.caller),
    tx_hash: deposit.transactionHash,
    global_index: String(deposit.globalIndex),
    block_timestamp: deposit.timestampSec,
    leaf_type: deposit.leafType,
    origin_network: deposit.originNetwork,
    origin_address: getAddress(deposit.originAddress),
    destination_network: deposit.destinationNetwork,
    destination_address: getAddress(deposit.destinationAddress),
    amount: String(deposit.amount),
    metadata: deposit.metadata,
    deposit_count: deposit.depositCount,
    bridge_hash: depositLeaf(deposit),
    txn_sender: getAddress(deposit.transactionSender),
    to_address: ZERO_ADDRESS,
  }
}

function bridgesBody(deposits: readonly FakeDeposit[], count = deposits.length): string {
  return JSON.stringify({ bridges: deposits.map(bridgeRow), count })
}

function claimRow(claim: FakeClaim, deposit: FakeDeposit): object {
  return {
    block_num: claim.blockNumber,
    block_timestamp: claim.timestampSec,
    tx_hash: claim.transactionHash,
    global_index: String(claim.globalIndex),
    origin_address: getAddress(claim.originAddress),
    origin_network: claim.originNetwork,
    destination_address: getAddress(claim.destinationAddress),
    destination_network: claim.networkId,
    amount: String(claim.amount),
    from_address: '',
    metadata: deposit.metadata,
    is_message: deposit.leafType === 1,
  }
}

function claimsBody({ world }: SmallWorld, networkId: number): string {
  const claims = [...world.network(networkId).claims()].reverse()
  const rows = claims.map((claim) =>
    claimRow(claim, world.network(claim.sourceNetwork).deposits()[claim.depositCount]!),
  )
  return JSON.stringify({ claims: rows, count: rows.length })
}

/** Deposits of a network, newest first. */
function newestFirst({ world }: SmallWorld, networkId: number): FakeDeposit[] {
  return [...world.network(networkId).deposits()].reverse()
}

function leafBody(leaf: FakeL1InfoLeaf): object {
  return {
    block_num: leaf.blockNumber,
    l1_info_tree_index: leaf.index,
    previous_block_hash: leaf.previousBlockHash,
    timestamp: leaf.timestampSec,
    mainnet_exit_root: leaf.mainnetExitRoot,
    rollup_exit_root: leaf.rollupExitRoot,
    global_exit_root: leaf.globalExitRoot,
    hash: leaf.leaf,
  }
}

function proofOf({ world }: SmallWorld, deposit: FakeDeposit, index: number): Exchanged {
  const { localExitRootBranch, rollupExitRootBranch } = expectedProof(world, deposit, index)
  return {
    query: `network_id=${deposit.networkId}&leaf_index=${index}&deposit_count=${deposit.depositCount}`,
    body: JSON.stringify({
      proof_local_exit_root: localExitRootBranch,
      proof_rollup_exit_root: rollupExitRootBranch,
      l1_info_tree_leaf: leafBody(world.network(0).head.state.l1InfoLeaves[index]!),
    }),
  }
}

function firstCovering({ world }: SmallWorld, { networkId, depositCount }: FakeDeposit): number {
  return expectedDeposits(world, networkId)[depositCount]!.firstCoveringIndex!
}

const NUMBER_FAULTS = [
  ['abc', 'strconv.ParseUint: parsing "abc": invalid syntax'],
  ['-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
  ['18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
] as const

/** What a parameter that must be given says of what is no number; `rest` has all others. */
function numberFaults(name: string, rest: string): Exchanged[] {
  return [
    { query: rest, status: 400, body: error(`${name} is mandatory`) },
    { query: `${rest}&${name}=`, status: 400, body: error(`${name} is mandatory`) },
    ...NUMBER_FAULTS.map(([text, fault]) => ({
      query: `${rest}&${name}=${text}`,
      status: 400,
      body: error(`invalid ${name} parameter: ${fault}`),
    })),
    {
      query: `${rest}&${name}=4294967296`,
      status: 400,
      body: error(`${name} value out of range for uint32`),
    },
  ]
}

const PAGE_FAULTS: readonly Exchanged[] = [
  { query: 'network_id=0&page_number=0', status: 400, body: error('page number must be greater than 0') },
  { query: 'network_id=0&page_size=0', status: 400, body: error('page size must be greater than 0') },
  {
    query: 'network_id=0&page_size=201',
    status: 400,
    body: error('page size must be less than or equal to 200'),
  },
  {
    query: 'network_id=0&page_size=4294967296',
    status: 400,
    body: error('page_size value out of range for uint32'),
  },
]

const NOT_INCLUDED = 'this bridge has not been included on the L1 Info Tree yet'

function indexNotYet(networkId: number, depositCount: number): Exchanged {
  return {
    query: `network_id=${networkId}&deposit_count=${depositCount}`,
    status: 404,
    body: error(
      `l1 info tree index for network id ${networkId} and deposit count ${depositCount} is not available yet, retry later: ${NOT_INCLUDED}`,
    ),
  }
}

/** Whether a network takes a leaf's global exit root: the L1 each of its own, an L2 those that were injected. */
function isAccepted(
  world: SmallWorld['world'],
  networkId: number,
  { globalExitRoot }: FakeL1InfoLeaf,
): boolean {
  return networkId === 0 || world.network(networkId).head.state.globalExitRoots.has(globalExitRoot)
}

function notInjected(leafIndex: number): string {
  return error(`no injected global exit root at or after leaf index ${leafIndex} yet (not injected)`)
}

const BRIDGES = '/bridge/v1/bridges'
const CLAIMS = '/bridge/v1/claims'
const MAPPINGS = '/bridge/v1/token-mappings'
const INDEX = '/bridge/v1/l1-info-tree-index'
const INJECTED = '/bridge/v1/injected-l1-info-leaf'
const PROOF = '/bridge/v1/claim-proof'
const BY_COUNT = '/bridge/v1/bridge-by-deposit-count'

export const aggkitPairs: readonly Pair[] = [
  {
    endpoint: BRIDGES,
    about: 'rows, order, `count`',
    verdict: 'differs',
    why: '`to_address` is the zero address: the receiver of a transaction is not stored',
    exchanged: (small) =>
      [0, 1, 2].map((networkId) => ({
        query: `network_id=${networkId}`,
        body: bridgesBody(newestFirst(small, networkId)),
      })),
  },
  {
    endpoint: BRIDGES,
    about: '`network_id`',
    verdict: 'better',
    why: 'all networks are served, not 0 and one other',
    exchanged: () => [
      ...numberFaults('network_id', 'x=1'),
      { query: 'network_id=7', status: 400, body: error('unsupported network id: 7') },
    ],
  },
  {
    endpoint: BRIDGES,
    about: '`page_number`, `page_size`',
    verdict: 'same',
    exchanged: (small) => {
      const all = newestFirst(small, 0)
      return [
        { query: 'network_id=0&page_size=2', body: bridgesBody(all.slice(0, 2), all.length) },
        { query: 'network_id=0&page_size=2&page_number=2', body: bridgesBody(all.slice(2, 4), all.length) },
        { query: 'network_id=0&page_size=abc&page_number=-3', body: bridgesBody(all) },
        ...PAGE_FAULTS,
      ]
    },
  },
  {
    endpoint: BRIDGES,
    about: 'a page behind the last one',
    verdict: 'better',
    why: 'an empty list with its `count`; the original answers 500',
    exchanged: (small) => [
      { query: 'network_id=0&page_number=99', body: bridgesBody([], newestFirst(small, 0).length) },
    ],
  },
  {
    endpoint: BRIDGES,
    about: '`deposit_count`',
    verdict: 'same',
    exchanged: (small) => [
      { query: `network_id=0&deposit_count=${small.ready.depositCount}`, body: bridgesBody([small.ready]) },
      { query: 'network_id=0&deposit_count=4000', body: bridgesBody([]) },
      { query: 'network_id=0&deposit_count=99999999999', body: bridgesBody([]) },
      { query: 'network_id=0&deposit_count=abc', body: bridgesBody(newestFirst(small, 0)) },
    ],
  },
  {
    endpoint: BRIDGES,
    about: '`from_address`',
    verdict: 'differs',
    why: 'finds a bridge by `txn_sender`, too',
    exchanged: (small) => {
      const sender = getAddress(small.unsettled.caller)
      const of = newestFirst(small, 1).filter(({ caller }) => getAddress(caller) === sender)
      return [
        { query: `network_id=1&from_address=${sender}`, body: bridgesBody(of) },
        { query: `network_id=1&from_address=${sender.toLowerCase()}`, body: bridgesBody(of) },
        { query: 'network_id=1&from_address=nobody', body: bridgesBody(newestFirst(small, 1)) },
      ]
    },
  },
  {
    endpoint: BRIDGES,
    about: '`network_ids`',
    verdict: 'better',
    why: 'repeated or with commas: its own clients send commas, which the original refuses',
    exchanged: (small) => {
      const to = (...networks: number[]) =>
        bridgesBody(newestFirst(small, 0).filter((deposit) => networks.includes(deposit.destinationNetwork)))
      return [
        { query: 'network_id=0&network_ids=2', body: to(2) },
        { query: 'network_id=0&network_ids=1&network_ids=2', body: to(1, 2) },
        { query: 'network_id=0&network_ids=1,2', body: to(1, 2) },
        {
          query: 'network_id=0&network_ids=1,2,3,4,5,6',
          status: 400,
          body: error(
            'invalid network_ids parameter: too many network IDs provided: maximum 5 allowed, got 6',
          ),
        },
        {
          query: 'network_id=0&network_ids=x',
          status: 400,
          body: error(
            'invalid network_ids parameter: invalid network ID \'x\': strconv.ParseUint: parsing "x": invalid syntax',
          ),
        },
      ]
    },
  },
  {
    endpoint: CLAIMS,
    about: 'rows, order, `count`',
    verdict: 'differs',
    why: 'without `mainnet_exit_root`, `rollup_exit_root` and `global_exit_root`, which are not stored; without `metadata` and `is_message` where the bridge is not indexed here; claims in force only; those that an administrator set are here',
    exchanged: (small) =>
      [0, 1, 2].map((networkId) => ({
        query: `network_id=${networkId}`,
        body: claimsBody(small, networkId),
      })),
  },
  {
    endpoint: CLAIMS,
    about: '`network_ids`',
    verdict: 'differs',
    why: 'the networks that were left, as its documents say; the original takes those where the tokens are at home',
    exchanged: (small) => [
      { query: 'network_id=1&network_ids=0', body: claimsBody(small, 1) },
      { query: 'network_id=1&network_ids=2', body: JSON.stringify({ claims: [], count: 0 }) },
    ],
  },
  {
    endpoint: CLAIMS,
    about: '`include_all_fields`',
    verdict: 'differs',
    why: 'read, but proofs of claims are not stored',
    exchanged: (small) => [
      ...['true', 'T', '0', 'False', ''].map((value) => ({
        query: `network_id=1&include_all_fields=${value}`,
        body: claimsBody(small, 1),
      })),
      {
        query: 'network_id=1&include_all_fields=yes',
        status: 400,
        body: error('invalid include_all_fields parameter'),
      },
    ],
  },
  {
    endpoint: CLAIMS,
    about: '`global_index`',
    verdict: 'same',
    exchanged: (small) => {
      const { globalIndex } = small.claimed
      return [
        { query: `network_id=1&global_index=${globalIndex}`, body: claimsBody(small, 1) },
        { query: `network_id=1&global_index=0x${globalIndex.toString(16)}`, body: claimsBody(small, 1) },
        { query: 'network_id=1&global_index=12', body: JSON.stringify({ claims: [], count: 0 }) },
        {
          query: 'network_id=1&global_index=abc',
          status: 400,
          body: error('invalid global_index parameter, it should be a numeric'),
        },
      ]
    },
  },
  {
    endpoint: MAPPINGS,
    about: 'rows, order, `count`',
    verdict: 'same',
    exchanged: (small) => [{ query: 'network_id=1', body: mappingsBody(small) }, ...PAGE_FAULTS],
  },
  {
    endpoint: MAPPINGS,
    about: '`origin_token_address`',
    verdict: 'same',
    exchanged: (small) => {
      const [mapping] = small.world.network(1).head.state.tokenMappings
      const none = JSON.stringify({ token_mappings: [], count: 0 })
      return [
        {
          query: `network_id=1&origin_token_address=${getAddress(mapping!.originTokenAddress)}`,
          body: mappingsBody(small),
        },
        { query: `network_id=1&origin_token_address=${mapping!.wrappedTokenAddress}`, body: none },
        { query: 'network_id=1&origin_token_address=x', body: mappingsBody(small) },
      ]
    },
  },
  {
    endpoint: INDEX,
    about: 'a bare number',
    verdict: 'better',
    why: 'the first leaf that covers the bridge; the original may tell a later one of the same block',
    exchanged: (small) =>
      [small.claimed, small.ready, small.claimedOnL1, small.betweenRollups].map((deposit) => ({
        query: `network_id=${deposit.networkId}&deposit_count=${deposit.depositCount}`,
        body: String(firstCovering(small, deposit)),
      })),
  },
  {
    endpoint: INDEX,
    about: 'not yet',
    verdict: 'same',
    exchanged: (small) => [
      indexNotYet(1, small.unsettled.depositCount),
      indexNotYet(0, small.pending.depositCount),
      indexNotYet(1, 4000),
    ],
  },
  {
    endpoint: INDEX,
    about: '`network_id`, `deposit_count`',
    verdict: 'same',
    exchanged: () => [
      ...numberFaults('network_id', 'deposit_count=1'),
      ...numberFaults('deposit_count', 'network_id=1'),
      { query: 'network_id=7&deposit_count=1', status: 400, body: error('unsupported network id: 7') },
    ],
  },
  {
    endpoint: INJECTED,
    about: 'the leaf at an index of the L1, and the first one from an index on that an L2 accepts',
    verdict: 'differs',
    why: 'without `block_pos` of the leaf, which is not stored; injections that were made while the original caught up are found',
    exchanged: ({ world }) => {
      const leaves = world.network(0).head.state.l1InfoLeaves
      return [0, 1, 2].flatMap((networkId) =>
        leaves.map(({ index }) => {
          const query = `network_id=${networkId}&leaf_index=${index}`
          const accepted = leaves.slice(index).find((leaf) => isAccepted(world, networkId, leaf))
          return accepted === undefined
            ? { query, status: 404, body: notInjected(index) }
            : { query, body: JSON.stringify(leafBody(accepted)) }
        }),
      )
    },
  },
  {
    endpoint: INJECTED,
    about: 'not yet',
    verdict: 'same',
    exchanged: () => [
      {
        query: 'network_id=0&leaf_index=4000',
        status: 404,
        body: error('l1infotreesync has not indexed l1 info tree leaf index 4000 yet, retry later'),
      },
      { query: 'network_id=1&leaf_index=4000', status: 404, body: notInjected(4000) },
    ],
  },
  {
    endpoint: INJECTED,
    about: '`network_id`, `leaf_index`',
    verdict: 'same',
    exchanged: () => [
      ...numberFaults('network_id', 'leaf_index=0'),
      ...numberFaults('leaf_index', 'network_id=0'),
      { query: 'network_id=7&leaf_index=0', status: 400, body: error('unsupported network id: 7') },
    ],
  },
  {
    endpoint: PROOF,
    about: 'proofs',
    verdict: 'differs',
    why: 'without `block_pos` of the leaf, which is not stored',
    exchanged: (small) =>
      [small.claimed, small.ready, small.claimedOnL1, small.betweenRollups].map((deposit) =>
        proofOf(small, deposit, firstCovering(small, deposit)),
      ),
  },
  {
    endpoint: PROOF,
    about: 'not yet',
    verdict: 'same',
    exchanged: () => [
      {
        query: 'network_id=0&leaf_index=4000&deposit_count=0',
        status: 404,
        body: error('l1infotreesync has not indexed l1 info tree leaf index 4000 yet, retry later'),
      },
      {
        query: 'network_id=1&leaf_index=0&deposit_count=4000',
        status: 404,
        body: error('bridgesync L2 has not indexed deposit count 4000 yet, retry later'),
      },
    ],
  },
  {
    endpoint: PROOF,
    about: 'a leaf that does not cover the bridge',
    verdict: 'better',
    why: '"not yet"; the original answers 200 with a proof that the contract refuses',
    exchanged: (small) => [
      {
        query: `network_id=0&leaf_index=0&deposit_count=${small.pending.depositCount}`,
        status: 404,
        body: error(
          `bridgesync L1 has not indexed deposit count ${small.pending.depositCount} yet, retry later`,
        ),
      },
    ],
  },
  {
    endpoint: PROOF,
    about: '`network_id`, `leaf_index`, `deposit_count`',
    verdict: 'same',
    exchanged: () => [
      ...numberFaults('network_id', 'leaf_index=0&deposit_count=0'),
      ...numberFaults('leaf_index', 'network_id=0&deposit_count=0'),
      ...numberFaults('deposit_count', 'network_id=0&leaf_index=0'),
      {
        query: 'network_id=7&leaf_index=0&deposit_count=0',
        status: 400,
        body: error('failed to get claim proof, unsupported network 7'),
      },
    ],
  },
  {
    endpoint: BY_COUNT,
    about: 'a bare row; 404',
    verdict: 'differs',
    why: 'bridges that BackwardLET took off the tree are not found',
    exchanged: (small) => [
      {
        query: `network_id=1&deposit_count=${small.claimedOnL1.depositCount}`,
        body: JSON.stringify(bridgeRow(small.claimedOnL1)),
      },
      {
        query: 'network_id=1&deposit_count=4000',
        status: 404,
        body: error('bridge with deposit_count=4000 not found'),
      },
      ...numberFaults('deposit_count', 'network_id=1'),
    ],
  },
]

function mappingsBody({ world }: SmallWorld): string {
  const network = world.network(1)
  const rows = [...network.head.state.tokenMappings].reverse().map((mapping) => ({
    block_num: mapping.blockNumber,
    block_pos: mapping.logIndex,
    block_timestamp: mapping.timestampSec,
    tx_hash: mapping.transactionHash,
    origin_network: mapping.originNetwork,
    origin_token_address: getAddress(mapping.originTokenAddress),
    wrapped_token_address: getAddress(mapping.wrappedTokenAddress),
    metadata: metadataOf(world.network(0).deposits(), mapping.originTokenAddress),
    is_not_mintable: false,
    token_type: 0,
  }))
  return JSON.stringify({ token_mappings: rows, count: rows.length })
}

/** A token's first bridge tells its metadata, which the wrapped token is made with. */
function metadataOf(deposits: readonly FakeDeposit[], token: Hex): Hex {
  return deposits.find(({ originAddress }) => originAddress === token)!.metadata
}
