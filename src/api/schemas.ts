import { type TSchema, Type } from '@sinclair/typebox'
import { feedDefinitions } from '../query/feed/feedRecords.js'
import { serviceStatuses } from '../query/healthReasons.js'
import { healthDefinition, networksDefinition, syncStatusDefinition } from '../query/healthRecords.js'
import {
  claimProofDefinition,
  claimTransactionDefinition,
  injectedL1InfoLeafDefinition,
  l1InfoTreeIndexDefinition,
} from '../query/proofRecords.js'
import {
  isInnerRecord,
  type JsonField,
  type JsonInnerRecord,
  type JsonKind,
  type JsonRecordDefinition,
} from '../query/recordFields.js'
import {
  bridgeDefinition,
  claimDefinition,
  paginationDefinition,
  tokenMappingDefinition,
} from '../query/records.js'
import { bridgeStatusResponseDefinition, searchResponseDefinition } from '../query/statusRecords.js'

/**
 * The answers as JSON Schema. Tests validate every answer with these schemas, and the OpenAPI document has them as components, named by
 * `title`. Those of records follow from the definitions in `query`; what wraps them, and answers of one word, are written here.
 */

const UINT32_MAX = 0xffff_ffff

const hash = (description: string) => Type.String({ pattern: '^0x[0-9a-f]{64}$', description })
const address = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })
const bytes = (description: string) => Type.String({ pattern: '^0x([0-9a-f]{2})*$', description })
const amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$', description })
/** OpenAPI 3.1 is JSON Schema, where null is a type of its own. */
const nullable = <S extends TSchema>(schema: S): TSchema => {
  // A record is a component, which keeps its description.
  if (schema.type === 'object') return Type.Union([schema, Type.Null()])
  const { description, ...rest } = schema
  return Type.Union([rest as S, Type.Null()], description === undefined ? {} : { description })
}

function record<P extends Record<string, TSchema>>(title: string, description: string, properties: P) {
  return Type.Object(properties, { title, description, additionalProperties: false })
}

const branch = (description: string) =>
  Type.Array(Type.String({ pattern: '^0x[0-9a-f]{64}$' }), { minItems: 32, maxItems: 32, description })

/** What a field's kind is in JSON. */
const kindSchemas: { readonly [K in JsonKind]: (field: JsonField) => TSchema } = {
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
  text: ({ words, description }) =>
    words === undefined ? Type.String({ description }) : Type.String({ enum: [...words], description }),
  seconds: (field) => integer(field),
  isoTime: ({ description }) =>
    Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$', description }),
  duration: ({ description }) => Type.String({ pattern: '^\\d+h\\d+m\\d+s$', description }),
  version: ({ description }) => Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$', description }),
  serviceStatus: ({ description }) =>
    Type.Union(
      serviceStatuses.map((word) => Type.Literal(word)),
      { description },
    ),
  // Any text: more reasons may come.
  healthReason: ({ description }) => Type.String({ description }),
}

function integer({ minimum = 0, maximum, description }: JsonField, kindMaximum?: number): TSchema {
  const most = maximum ?? kindMaximum
  return Type.Integer({ minimum, ...(most === undefined ? {} : { maximum: most }), description })
}

function fieldSchema(field: JsonField | JsonInnerRecord): TSchema {
  const schema = isInnerRecord(field)
    ? innerSchema(field)
    : field.isList
      ? listSchema(field)
      : kindSchemas[field.kind](field)
  const shown = field.isNullable ? nullable(schema) : schema
  return field.isOptional ? Type.Optional(shown) : shown
}

function innerSchema({ record, isList }: JsonInnerRecord): TSchema {
  const inner = recordSchema(record)
  return isList ? Type.Array(inner) : inner
}

function listSchema(field: JsonField): TSchema {
  const { description: _, ...item } = kindSchemas[field.kind](field)
  return Type.Array(item as TSchema, {
    ...(field.isOptional ? { minItems: 1 } : {}),
    description: field.description,
  })
}

/** The schema of a record, from its one definition. */
function recordSchema({ title, description, fields }: JsonRecordDefinition): TSchema {
  return record(
    title,
    description,
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [field.wire ?? name, fieldSchema(field)]),
    ),
  )
}

/** What the data of an event is, by its type. */
export const EventData = Type.Union(Object.values(feedDefinitions).map(recordSchema), {
  description: 'The data of one event.',
})

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

export const InjectedL1InfoLeafResponse = recordSchema(injectedL1InfoLeafDefinition)

export const ClaimTransactionResponse = recordSchema(claimTransactionDefinition)

export const BridgeStatusResponse = recordSchema(bridgeStatusResponseDefinition)

export const SearchResponse = recordSchema(searchResponseDefinition)

export const SyncStatusResponse = recordSchema(syncStatusDefinition)

export const NetworksResponse = recordSchema(networksDefinition)

export const HealthResponse = recordSchema(healthDefinition)

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
