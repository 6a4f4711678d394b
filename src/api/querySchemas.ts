import { Type } from '@sinclair/typebox'

/**
 * Parameters of every operation, under their wire names. The parser reads the kind of text that a parameter takes from
 * the `type` here, ajv checks the ranges, OpenAPI shows both.
 */

const UINT32_MAX = 0xffff_ffff

/** More ids than any instance serves; the URL cap sets a limit of the same size anyway. */
const MAX_NETWORK_IDS = 100

const uint32 = (description: string) => Type.Integer({ minimum: 0, maximum: UINT32_MAX, description })
const address = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })

const paging = {
  page_number: Type.Integer({ minimum: 1, maximum: UINT32_MAX, default: 1, description: 'Page to return.' }),
  page_size: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Records per page.' }),
}

const strict = { additionalProperties: false }

export const BridgesParameters = Type.Object(
  {
    network_id: uint32('Source network.'),
    ...paging,
    deposit_count: Type.Optional(uint32('Only the bridge with this deposit count.')),
    from_address: Type.Optional(
      address('Only bridges whose origin_address or tx_sender this is; any letter case.'),
    ),
    network_ids: Type.Optional(
      Type.Array(uint32('Network id.'), {
        minItems: 1,
        maxItems: MAX_NETWORK_IDS,
        description: 'Only bridges to one of these networks; comma-separated or repeated.',
      }),
    ),
    ready_for_claim: Type.Optional(
      Type.Boolean({ description: 'Only bridges that can, or cannot, be claimed now.' }),
    ),
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

export const TokenMappingsParameters = Type.Object(
  {
    network_id: Type.Optional(uint32('Network that holds the wrapped token; absent: all served networks.')),
    ...paging,
    token_address: Type.Optional(address('Only mappings with this token on either side; any letter case.')),
    token_network: Type.Optional(uint32('Only tokens whose home network this is.')),
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
