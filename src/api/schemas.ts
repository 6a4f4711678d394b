import { type TSchema, Type } from '@sinclair/typebox'
import { LISTED_METADATA_BYTES } from '../protocol/metadata.js'

/**
 * What the wire carries, field by field, in the order in which it is sent. One definition gives the static type, the
 * validator that every test runs over every answer, and the OpenAPI component (named by `title`).
 */

const UINT32_MAX = 0xffff_ffff

const uint32 = (description: string) => Type.Integer({ minimum: 0, maximum: UINT32_MAX, description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const hash = (description: string) => Type.String({ pattern: '^0x[0-9a-f]{64}$', description })
const address = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })
const bytes = (description: string) => Type.String({ pattern: '^0x([0-9a-f]{2})*$', description })
const amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$', description })
/** OpenAPI 3.1 is JSON Schema, where null is a type of its own. */
const nullable = <S extends TSchema>(schema: S) => {
  const { description, ...rest } = schema
  return Type.Union([rest as S, Type.Null()], description === undefined ? {} : { description })
}

/** Metadata of a row, and what stands for them where they are too long for it. */
const metadata = (whole: string) => ({
  metadata: nullable(
    bytes(
      `As emitted, whole. Null above ${LISTED_METADATA_BYTES.toLocaleString('en')} bytes: then length and hash tell of it${whole}.`,
    ),
  ),
  metadata_length: Type.Optional(
    Type.Integer({
      minimum: LISTED_METADATA_BYTES + 1,
      description: 'Bytes of it. Only where `metadata` is null.',
    }),
  ),
  metadata_hash: Type.Optional(hash('Its keccak-256. Only where `metadata` is null.')),
})

function record<P extends Record<string, TSchema>>(title: string, description: string, properties: P) {
  return Type.Object(properties, { title, description, additionalProperties: false })
}

const BridgeSchema = record('Bridge', 'One deposit. `origin_network` and `deposit_count` name it.', {
  tx_hash: hash('Transaction of the deposit.'),
  deposit_count: uint32('0-based leaf index in the exit tree of the source network.'),
  origin_network: uint32(
    'Source network: the one whose bridge emitted the event. Not the home network of the token.',
  ),
  destination_network: uint32('Network where the deposit is claimed.'),
  origin_address: nullable(
    address('Sender: the account that called the bridge, EIP-55. Null until it is resolved.'),
  ),
  destination_address: address('Receiver, EIP-55.'),
  amount: amount('Base units, decimal.'),
  block_timestamp: count('Unix seconds.'),
  ready_for_claim: Type.Boolean({ description: 'True when executing the claim now passes.' }),
  block_number: count('Block of the deposit on the source network.'),
  log_index: uint32('Place of the deposit among the logs of its block.'),
  leaf_type: Type.Integer({ minimum: 0, maximum: 255, description: '0 asset, 1 message.' }),
  token_network: uint32('Home network of the token; for a message its origin network.'),
  token_address: address('Token on its home network; for a message its origin address.'),
  ...metadata(', unless exactly one `deposit_count` is asked for and 16 MiB hold it'),
  tx_sender: nullable(address('Sender of the transaction, EIP-55. Null until it is resolved.')),
  global_index: hash('Canonical global index.'),
  claim_tx_hash: nullable(hash('Transaction of the claim in force.')),
  l1_info_tree_index: nullable(uint32('Smallest L1 info tree index to use for the proof.')),
  claim_matches: Type.Optional(
    Type.Literal(false, {
      description:
        'Only where the claim is of an older deposit with this count, which a cut took off the exit tree: this one can never be claimed.',
    }),
  ),
})

const ClaimSchema = record('Claim', 'One claim in force.', {
  tx_hash: hash('Transaction of the claim.'),
  global_index: hash('As emitted.'),
  amount: amount('Base units, decimal.'),
  block_timestamp: count('Unix seconds.'),
  bridge_tx_hash: nullable(
    hash('Transaction of the deposit whose content was claimed; null while none such is indexed here.'),
  ),
  block_number: count('Block of the claim.'),
  log_index: uint32('Place of the claim among the logs of its block.'),
  origin_network: uint32('Source network of the claimed deposit.'),
  deposit_count: uint32('Deposit count of the claimed deposit.'),
  destination_network: uint32('Network of the claim.'),
  destination_address: address('Receiver, EIP-55.'),
  token_network: uint32('Home network of the token; for a message its origin network.'),
  token_address: address('Token on its home network; for a message its origin address.'),
  from_address: nullable(address('Claimer: the account that called the bridge. Null when not known.')),
  tx_sender: nullable(address('Sender of the transaction. Null when not known.')),
})

const tokenText = nullable(
  Type.String({
    description: 'Decoded from metadata; null where it does not decode or has more than 256 characters.',
  }),
)

const TokenMappingSchema = record('TokenMapping', 'A token and the token that stands for it elsewhere.', {
  tx_hash: hash('Transaction that made the mapping.'),
  block_number: count('Block of the mapping.'),
  log_index: uint32('Place of the mapping among the logs of its block.'),
  block_timestamp: count('Unix seconds.'),
  origin_network: uint32('Home network of the token.'),
  origin_token_address: address('Token on its home network.'),
  wrapped_network: uint32('Network that holds the wrapped token.'),
  wrapped_token_address: address('Wrapped token.'),
  ...metadata(''),
  name: tokenText,
  symbol: tokenText,
  decimals: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 255,
      description: 'Decoded from metadata; null where it does not decode.',
    }),
  ),
  is_not_mintable: Type.Boolean({
    description: 'True for a sovereign token that the bridge may not mint.',
  }),
  token_type: Type.Integer({ minimum: 0, maximum: 1, description: '0 wrapped, 1 sovereign.' }),
  is_current: Type.Boolean({ description: 'False once replaced or removed.' }),
})

const PaginationSchema = record('Pagination', 'Where a page stands in its list.', {
  page: Type.Integer({ minimum: 1, maximum: UINT32_MAX, description: 'Page number returned.' }),
  limit: Type.Integer({ minimum: 1, maximum: 1000, description: 'Page size applied.' }),
  total: count('Number of matching records.'),
  next_cursor: nullable(
    Type.String({ description: 'Value of `cursor` for the page behind this one; null on the last page.' }),
  ),
})

export const BridgesResponse = record('BridgesResponse', 'A page of bridges, newest first.', {
  bridges: Type.Array(BridgeSchema),
  pagination: PaginationSchema,
})

export const ClaimsResponse = record('ClaimsResponse', 'A page of claims in force, newest first.', {
  claims: Type.Array(ClaimSchema),
  pagination: PaginationSchema,
})

export const TokenMappingsResponse = record(
  'TokenMappingsResponse',
  'A page of token mappings, newest first.',
  {
    token_mappings: Type.Array(TokenMappingSchema),
    pagination: PaginationSchema,
  },
)

const branch = (description: string) =>
  Type.Array(Type.String({ pattern: '^0x[0-9a-f]{64}$' }), { minItems: 32, maxItems: 32, description })

const L1InfoTreeLeafSchema = record('L1InfoTreeLeaf', 'Leaf of the L1 info tree.', {
  globalExitRoot: hash('keccak256(mainnetExitRoot, rollupExitRoot).'),
  blockNumber: count('Block of the leaf on the L1.'),
  timestamp: count('Unix seconds.'),
  l1InfoTreeIndex: uint32('Index of the leaf.'),
  mainnetExitRoot: hash('Mainnet exit root of the leaf.'),
  rollupExitRoot: hash('Rollup exit root of the leaf.'),
  previousBlockHash: hash('Hash of the parent of the block.'),
  hash: hash('The leaf itself: keccak256(globalExitRoot, previousBlockHash, timestamp).'),
})

const ClaimProofSchema = record('ClaimProof', 'Everything that the claim contract function asks for.', {
  smtProofLocalExitRoot: branch('Siblings under the local exit root, leaf level first.'),
  smtProofRollupExitRoot: branch(
    'Siblings under the rollup exit root, leaf level first; zero words for network 0.',
  ),
  l1InfoTreeLeaf: L1InfoTreeLeafSchema,
  globalIndex: hash('Canonical global index.'),
  leafHash: hash('Leaf of the deposit in the local exit tree.'),
})

export const ClaimProofResponse = record(
  'ClaimProofResponse',
  'A proof that was checked before it was sent.',
  {
    proof: ClaimProofSchema,
  },
)

export const L1InfoTreeIndexResponse = record('L1InfoTreeIndexResponse', 'Which leaf to use for the proof.', {
  l1_info_tree_index: uint32('Value for `leaf_index` of the claim proof.'),
  block_number: count('Block of that leaf on the L1.'),
  global_exit_root: hash('Global exit root of that leaf.'),
  first_covering_index: uint32(
    'First leaf that covers the deposit, whether usable at the destination or not.',
  ),
  mainnet_exit_root: hash('Mainnet exit root of that leaf.'),
  rollup_exit_root: hash('Rollup exit root of that leaf.'),
  timestamp: count('Unix seconds of that leaf.'),
})

export const ClaimTransactionResponse = record('ClaimTransactionResponse', 'The claim call, ready to sign.', {
  to: address('Bridge contract on the destination network.'),
  data: bytes('ABI-encoded claimAsset or claimMessage.'),
  value: amount('Always 0.'),
  chain_id: Type.Integer({ minimum: 1, description: 'Chain id of the destination network.' }),
  leaf_type: Type.Integer({ minimum: 0, maximum: 255, description: '0 claimAsset, 1 claimMessage.' }),
  origin_network: uint32('Source network of the deposit.'),
  destination_network: uint32('Network where the call is made.'),
  deposit_count: uint32('Deposit count of the deposit.'),
  global_index: hash('Canonical global index.'),
  l1_info_tree_index: uint32('L1 info tree index that the proof uses.'),
})

const chainSync = {
  current_block: count('Head of the chain.'),
  synced_block: count('Last block indexed.'),
  is_synced: Type.Boolean({
    description:
      'False when lagging, when the head is unknown, when halted, and while claims may be missing, so that nothing is ready.',
  }),
}

const ChainSyncSchema = record('ChainSync', 'Synchronisation of one chain.', chainSync)

const NetworkSyncSchema = record('NetworkSync', 'Synchronisation of one network.', {
  network_id: uint32('The network.'),
  ...chainSync,
  finalized_block: nullable(count('Newest final block; null while unknown.')),
  lag_seconds: nullable(count('Seconds between the head and the last block indexed; null while unknown.')),
  head_age_seconds: nullable(
    count('Seconds since the time that the newest block of the chain tells; null while unknown.'),
  ),
  halted: nullable(Type.String({ description: 'Why indexing stands still; null while it runs.' })),
  contract_deposit_count: nullable(uint32('Deposit count that the contract tells; null while unknown.')),
  contracts_compared: nullable(
    Type.Boolean({
      description:
        'Whether the last comparison with what the contracts hold was answered; false while no endpoint tells or what one tells is disputed, null before the first.',
    }),
  ),
  indexed_deposit_count: uint32('Deposits indexed.'),
  indexed_claim_count: uint32('Claims in force indexed.'),
  unresolved_senders: count('Deposits and claims whose sender is not known yet.'),
  reasons: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'Those of the health record that hold for this network; absent when there are none.',
    }),
  ),
})

export const SyncStatusResponse = record('SyncStatusResponse', 'How far every part has come.', {
  l1_sync: ChainSyncSchema,
  l2_sync: ChainSyncSchema,
  bridge_sync: record('BridgeSync', 'The indexer.', {
    l1_bridges_indexed: count('Deposits indexed on the L1.'),
    l2_bridges_indexed: count('Deposits indexed on all L2s.'),
    last_update: Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$',
      description: 'ISO 8601, UTC.',
    }),
  }),
  networks: Type.Array(NetworkSyncSchema),
})

export const HealthResponse = record('HealthResponse', 'Health and version.', {
  status: Type.Union(
    ['healthy', 'syncing', 'degraded', 'unhealthy', 'starting', 'draining'].map((word) => Type.Literal(word)),
    { description: 'HTTP 200 for healthy, syncing and degraded, else 503.' },
  ),
  version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$', description: 'Version of the API.' }),
  network_id: uint32('Primary network.'),
  uptime: Type.String({ pattern: '^\\d+h\\d+m\\d+s$', description: 'Hours, minutes, seconds.' }),
  last_processed_block: count('Latest indexed block of the primary network.'),
  supported_networks: Type.Array(uint32('Network id.'), { description: 'Networks served.' }),
  reasons: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, description: 'Short codes; absent when there are none.' }),
  ),
  build: Type.String({ description: 'Version of this software.' }),
})

export const ReadinessResponse = record('ReadinessResponse', 'A balancer should send requests here.', {
  status: Type.Literal('ready'),
})

export const LivenessResponse = record('LivenessResponse', 'The process answers.', {
  status: Type.Literal('alive'),
})

export const ErrorResponse = record('ErrorResponse', 'Every answer with status 4xx or 5xx.', {
  error: record('Error', 'What went wrong.', {
    code: Type.String({ description: 'Stable code.' }),
    message: Type.String({ description: 'Fact, value and limit, for humans.' }),
  }),
})
