/** What the explorer page is told of the configuration, in the page itself. All of it is public. */
export interface PageSettings {
  /** Name of the deployment. */
  readonly title: string
  /** `#rrggbb`. */
  readonly accent: string
  /** Whether the nodes at `rpcUrl` send transactions of accounts of their own: on the devnet. */
  readonly hasUnlockedAccounts: boolean
  /** Name of the file with keccak-256, beside the page's scripts. */
  readonly wasmFile: string
  readonly networks: readonly PageNetwork[]
}

export interface PageNetwork {
  readonly networkId: number
  readonly name?: string
  /** Of a block explorer, without a slash at its end: `/tx/…` and `/address/…` are put behind it. */
  readonly explorerUrl?: string
  /** First block that is read. */
  readonly startBlock: number
  /** A public endpoint that the page may ask. */
  readonly rpcUrl?: string
}
