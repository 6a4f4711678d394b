/** Contracts that the devnet deploys. Each has a compiled file `dist/contracts/<name>.json`. */
export const contractNames = [
  'Bridge',
  'GlobalExitRootManagerL1',
  'GlobalExitRootManagerL2',
  'RollupManager',
  'TestToken',
  'WrappedToken',
  'BridgeCaller',
  'MessageReceiver',
] as const

export type ContractName = (typeof contractNames)[number]
