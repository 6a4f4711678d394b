/** Fields that several records show alike. What only looks similar (another name on the wire, another meaning) is not here. */

export const blockTime = {
  wire: 'block_timestamp',
  kind: 'unixSeconds',
  description: 'Unix seconds.',
} as const

export const receiver = {
  wire: 'destination_address',
  kind: 'address',
  description: 'Receiver, EIP-55.',
} as const

export const amount = { wire: 'amount', kind: 'amount', description: 'Base units, decimal.' } as const

export const canonicalGlobalIndex = {
  wire: 'global_index',
  kind: 'hash',
  description: 'Canonical global index.',
} as const

/** The token of an asset, the origin of a message. */
export const ofToken = {
  tokenNetwork: {
    wire: 'token_network',
    kind: 'networkId',
    description: 'Home network of the token; for a message its origin network.',
  },
  tokenAddress: {
    wire: 'token_address',
    kind: 'address',
    description: 'Token on its home network; for a message its origin address.',
  },
} as const
