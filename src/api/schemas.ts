import { type TSchema, Type } from '@sinclair/typebox'
import {
  claimProofDefinition,
  claimTransactionDefinition,
  l1InfoTreeIndexDefinition,
} from '../query/proofRecords.js'
import {
  type Field,
  type InnerRecord,
  isInnerRecord,
  type Kind,
  type RecordDefinition,
} from '../query/recordFields.js'
import {
  bridgeDefinition,
  claimDefinition,
  paginationDefinition,
  tokenMappingDefinition,
} from '../query/records.js'

/**
 * The answers as JSON Schema. Tests validate every answer with these schemas, and the OpenAPI document has them as components, named by
 * `title`. The schemas of what shards answer follow from the definitions in `query`; those of what the front answers are written here.
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

function record<P extends Record<string, TSchema>>(title: string, description: string, properties: P) {
  return Type.Object(properties, { title, description, additionalProperties: false })
}

const branch = (description: string) =>
  Type.Array(Type.String({ pattern: '^0x[0-9a-f]{64}$' }), { minItems: 32, maxItems: 32, description })

/** What a field's kind is in JSON. */
const kindSchemas: { readonly [K in Kind]: (field: Field) => TSchema } = {
  hash: ({ description }) => hash(description),
  address: ({ description }) => address(description),
  amount: ({ description }) => amount(description),
  bytes: ({ description }) => bytes(description),
  branch: ({ description }) => branch(description),
  uint8: (field) => integer(field, 0xff),
  uint32: (field) => integer(field, UINT32_MAX),
  count: (field) => integer(field),
  networkId: (field) => integer(field, UINT32_MAX),
  depositCount: (field) => integer(field, UINT32_MAX),
  l1InfoTreeIndex: (field) => integer(field, UINT32_MAX),
  blockNumber: (field) => integer(field),
  unixSeconds: (field) => integer(field),
  boolean: ({ description }) => Type.Boolean({ description }),
  onlyFalse: ({ description }) => Type.Literal(false, { description }),
  text: ({ description }) => Type.String({ description }),
}

function integer({ minimum = 0, maximum, description }: Field, kindMaximum?: number): TSchema {
  const most = maximum ?? kindMaximum
  return Type.Integer({ minimum, ...(most === undefined ? {} : { maximum: most }), description })
}

function fieldSchema(field: Field | InnerRecord): TSchema {
  if (isInnerRecord(field)) return recordSchema(field.record)
  const schema = kindSchemas[field.kind](field)
  const shown = field.isNullable ? nullable(schema) : schema
  return field.isOptional ? Type.Optional(shown) : shown
}

/** The schema of a record, from its one definition. */
function recordSchema({ title, description, fields }: RecordDefinition): TSchema {
  return record(
    title,
    description,
    Object.fromEntries(Object.values(fields).map((field) => [field.wire, fieldSchema(field)])),
  )
}

const PaginationSchema = recordSchema(paginationDefinition)

export const BridgesResponse = record('BridgesResponse', 'A page of bridges, newest first.', {
  bridges: Type.Array(recordSchema(bridgeDefinition)),
  pagination: PaginationSchema,
})

export const ClaimsResponse = record('ClaimsResponse', 'A page of claims in force, newest first.', {
  claims: Type.Array(recordSchema(claimDefinition)),
  pagination: PaginationSchema,
})

export const TokenMappingsResponse = record(
  'TokenMappingsResponse',
  'A page of token mappings, newest first.',
  {
    token_mappings: Type.Array(recordSchema(tokenMappingDefinition)),
    pagination: PaginationSchema,
  },
)

export const ClaimProofResponse = record(
  'ClaimProofResponse',
  'A proof that was checked before it was sent.',
  {
    proof: recordSchema(claimProofDefinition),
  },
)

export const L1InfoTreeIndexResponse = recordSchema(l1InfoTreeIndexDefinition)

export const ClaimTransactionResponse = recordSchema(claimTransactionDefinition)

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
