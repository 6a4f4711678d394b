import { Type } from '@sinclair/typebox'
import { MAX_CURSOR_LENGTH } from '../../query/cursor.js'
import { feedEventTypes } from '../../query/feed/feedRecords.js'

/**
 * Parameters of every operation, under their wire names. The parser reads the kind of text that a parameter takes from
 * the `type` here, ajv checks the ranges, OpenAPI shows both.
 */

const UINT32_MAX = 0xffff_ffff
/** The store keeps block numbers and times in 48 bits. */
const UINT48_MAX = 2 ** 48 - 1

/** Most items of a list: more networks than any instance serves, and about what the longest URL allows. */
export const MAX_LISTED = 100

const ADDRESS = '^0x[0-9a-fA-F]{40}$'
const HASH = '^0x[0-9a-fA-F]{64}$'
const GLOBAL_INDEX = '^(0x[0-9a-fA-F]{1,64}|0|[1-9][0-9]{0,77})$'
/** A transaction hash, an address or a global index in hexadecimal; a global index in decimal; a network and a deposit count. */
const SEARCH = '^(0x[0-9a-fA-F]{1,64}|(0|[1-9][0-9]{0,77})|(0|[1-9][0-9]{0,9}):(0|[1-9][0-9]{0,9}))$'
const EVENT_TYPES = `^(${feedEventTypes.join('|')})(,(${feedEventTypes.join('|')}))*$`
const ADDRESSES = '^0x[0-9a-fA-F]{40}(,0x[0-9a-fA-F]{40}){0,99}$'
const POSITIONS = '^[0-9]{1,10}\\.[0-9a-f]{12}:[0-9]{1,15}(,[0-9]{1,10}\\.[0-9a-f]{12}:[0-9]{1,15}){0,99}$'
const CURSOR = `^[0-9A-Za-z_-]{16,${MAX_CURSOR_LENGTH}}$`

/** Pattern → what the error says of a text that does not match it. */
export const patternWords: ReadonlyMap<string, string> = new Map([
  [ADDRESS, 'is not 0x followed by 40 hexadecimal digits'],
  [HASH, 'is not 0x followed by 64 hexadecimal digits'],
  [GLOBAL_INDEX, 'is neither a decimal integer nor 0x followed by 1 to 64 hexadecimal digits'],
  [
    SEARCH,
    'is neither 0x followed by 1 to 64 hexadecimal digits nor a decimal integer nor network:deposit_count',
  ],
  [CURSOR, 'is not a cursor that this service gave'],
  [EVENT_TYPES, `is not a list of types of events: ${feedEventTypes.join(', ')}`],
  [ADDRESSES, 'is not a list of up to 100 addresses, each 0x followed by 40 hexadecimal digits'],
  [POSITIONS, 'is not a position that this service gave'],
])

const uint32 = (description: string) => Type.Integer({ minimum: 0, maximum: UINT32_MAX, description })
const uint48 = (description: string) => Type.Integer({ minimum: 0, maximum: UINT48_MAX, description })
const address = (description: string) => Type.String({ pattern: ADDRESS, description })
const hash = (description: string) => Type.String({ pattern: HASH, description })
const networkIds = (description: string) =>
  Type.Array(uint32('Network id.'), { minItems: 1, maxItems: MAX_LISTED, description })

const paging = {
  page_number: Type.Integer({ minimum: 1, maximum: UINT32_MAX, default: 1, description: 'Page to return.' }),
  page_size: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Records per page.' }),
}

const orderAndCursor = {
  order: Type.Optional(
    Type.String({ enum: ['asc', 'desc'], description: '`desc`, newest first, unless `asc` is asked for.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      pattern: CURSOR,
      description:
        '`pagination.next_cursor` of the page before, with the same filters, in the place of `page_number`: no row is missed or given twice while data arrive.',
    }),
  ),
}

const strict = { additionalProperties: false }

export const BridgesParameters = Type.Object(
  {
    network_id: uint32('Source network.'),
    ...paging,
    deposit_count: Type.Optional(
      Type.Array(uint32('Deposit count.'), {
        minItems: 1,
        maxItems: MAX_LISTED,
        description: 'Only the bridges with these deposit counts; comma-separated or repeated.',
      }),
    ),
    from_address: Type.Optional(
      address('Only bridges whose origin_address or tx_sender this is; any letter case.'),
    ),
    to_address: Type.Optional(address('Only bridges to this destination_address; any letter case.')),
    tx_hash: Type.Optional(hash('Only bridges of this transaction; any letter case.')),
    bridge_hash: Type.Optional(
      hash(
        'Only bridges whose leaf of the local exit tree this is: the hash of their content; any letter case.',
      ),
    ),
    network_ids: Type.Optional(
      networkIds('Only bridges to one of these networks; comma-separated or repeated.'),
    ),
    leaf_type: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1, description: 'Only assets (0) or messages (1).' }),
    ),
    claimed: Type.Optional(
      Type.Boolean({ description: 'Only bridges with, or without, a claim in force that is indexed here.' }),
    ),
    ready_for_claim: Type.Optional(
      Type.Boolean({ description: 'Only bridges that can, or cannot, be claimed now.' }),
    ),
    from_block: Type.Optional(uint48('Only bridges of this block or a later one.')),
    to_block: Type.Optional(uint48('Only bridges of this block or an earlier one.')),
    from_timestamp: Type.Optional(uint48('Only bridges of this time, in Unix seconds, or later.')),
    to_timestamp: Type.Optional(uint48('Only bridges of this time, in Unix seconds, or earlier.')),
    ...orderAndCursor,
  },
  strict,
)

export const ClaimsParameters = Type.Object(
  {
    network_id: uint32('Network on which the claims occurred.'),
    ...paging,
    from_address: Type.Optional(
      address('Only claims whose from_address or tx_sender this is; any letter case.'),
    ),
    to_address: Type.Optional(address('Only claims to this destination_address; any letter case.')),
    tx_hash: Type.Optional(hash('Only claims of this transaction; any letter case.')),
    network_ids: Type.Optional(
      networkIds('Only claims of bridges from one of these networks; comma-separated or repeated.'),
    ),
    global_index: Type.Optional(
      Type.String({
        pattern: GLOBAL_INDEX,
        description: 'Only the claim of the bridge that this global index names; decimal or hexadecimal.',
      }),
    ),
    ...orderAndCursor,
  },
  strict,
)

export const ClaimProofParameters = Type.Object(
  {
    network_id: uint32('Source network.'),
    deposit_count: uint32('Deposit count of the bridge.'),
    leaf_index: uint32('L1 info tree index to prove with; any whose leaf covers the deposit.'),
  },
  strict,
)

export const L1InfoTreeIndexParameters = Type.Object(
  {
    network_id: uint32('Source network.'),
    deposit_count: uint32('Deposit count of the bridge.'),
  },
  strict,
)

export const InjectedL1InfoLeafParameters = Type.Object(
  {
    network_id: uint32('Network that accepts the leaf: the destination of a bridge.'),
    leaf_index: uint32('L1 info tree index to look from; on network 0, the index of the leaf.'),
  },
  strict,
)

export const TokenMappingsParameters = Type.Object(
  {
    network_id: Type.Optional(uint32('Network that holds the wrapped token; absent: all served networks.')),
    ...paging,
    token_address: Type.Optional(address('Only mappings with this token on either side; any letter case.')),
    token_network: Type.Optional(uint32('Only tokens whose home network this is.')),
    ...orderAndCursor,
  },
  strict,
)

export const ClaimTransactionParameters = Type.Object(
  {
    network_id: uint32('Source network.'),
    deposit_count: uint32('Deposit count of the bridge.'),
    leaf_index: Type.Optional(uint32('L1 info tree index to prove with; default: the smallest usable one.')),
  },
  strict,
)

export const BridgeStatusParameters = Type.Object(
  {
    network_id: Type.Optional(
      uint32('Source network. Needed with `deposit_count`; not with `global_index`.'),
    ),
    deposit_count: Type.Optional(uint32('Deposit count of the bridge.')),
    global_index: Type.Optional(
      Type.String({
        pattern: GLOBAL_INDEX,
        description: 'Instead of both: global index of the bridge; decimal or hexadecimal.',
      }),
    ),
    tx_hash: Type.Optional(
      hash(
        'Instead of `deposit_count`: all bridges of this transaction, on any served network unless `network_id` names one.',
      ),
    ),
  },
  strict,
)

export const SearchParameters = Type.Object(
  {
    q: Type.String({
      pattern: SEARCH,
      description:
        'A transaction hash; an address, of an account or a token; a global index, decimal or hexadecimal; or `network:deposit_count`, like `1:25`.',
    }),
  },
  strict,
)

export const EventsParameters = Type.Object(
  {
    network_ids: Type.Optional(
      networkIds(
        'Networks whose events are wanted, all that are served by default; comma-separated or repeated.',
      ),
    ),
    types: Type.Optional(
      Type.String({ pattern: EVENT_TYPES, description: 'Only events of these types; comma-separated.' }),
    ),
    destination_networks: Type.Optional(
      networkIds(
        'Only bridges, claims and tokens of these networks of destination; comma-separated or repeated.',
      ),
    ),
    addresses: Type.Optional(
      Type.String({
        pattern: ADDRESSES,
        description:
          'Only bridges, claims and tokens that name one of these addresses, as sender, receiver, claimer or token; comma-separated, any letter case.',
      }),
    ),
    origin_network: Type.Optional(uint32('Only events of one bridge: its source network.')),
    deposit_count: Type.Optional(uint32('Only events of one bridge: its deposit count.')),
    after: Type.Optional(
      Type.String({
        pattern: POSITIONS,
        description:
          'Only events behind this position: `X-Feed-Position` of a list, or the last id that was read. The header `Last-Event-ID` says the same, and counts where both are given.',
      }),
    ),
  },
  strict,
)
