import { pathToFileURL } from 'node:url'
import type { NetworkConfig } from '../../src/config/config.types.js'
import { sharedPath } from '../support/sharedFolder.js'

/** What the recorded sets say of a deposit or a claim, as far as these tests compare it. */
interface ExpectedRow {
  readonly txHash: string
  readonly blockNumber: number
  readonly logIndex: number
  readonly blockTimestamp: number
  readonly depositCount: number
  readonly txFrom: string
  readonly caller: string | null
}

export interface ReplayExpected {
  readonly bridges: readonly (ExpectedRow & {
    readonly sourceNetwork: number
    readonly leafType: number
    readonly originAddress: string
  })[]
  readonly claims: readonly (ExpectedRow & { readonly network: number; readonly globalIndex: string })[]
  readonly l1InfoLeaves: readonly {
    readonly blockNumber: number
    readonly logIndex: number
    readonly previousBlockHash: string
    readonly timestamp: number
    readonly blockHash: string
  }[]
  readonly networks: Readonly<Record<string, { readonly head: number; readonly localExitRoot: string }>>
  readonly injectedGers: Readonly<Record<string, readonly { readonly globalExitRoot: string }[]>>
}

export interface ReplayNetwork {
  readonly rpc: string
  readonly networkId: number
  readonly chainId: number
  readonly bridge: string
  readonly globalExitRootManager: string
  readonly rollupManager?: string
  readonly startBlock: number
}

interface ReplayFaults {
  on(name: string, options: object): { readonly name: string; readonly fired: number }
  off(name?: string): void
}

export interface Replay {
  /** `control`: the address that moves heads, makes reorgs, and says what is expected at the present heads. */
  readonly info: { readonly networks: Readonly<Record<string, ReplayNetwork>>; readonly control: string }
  readonly set: { readonly expected: ReplayExpected }
  readonly nodes: Readonly<
    Record<
      string,
      { readonly faults: ReplayFaults; readonly stats: { calls: Record<string, number>; http: number } }
    >
  >
  readonly ctl: { setHead(options: object): unknown }
  close(): void
}

/** The recorded chains of one set, served on ports of their own. */
export async function startReplay(set: string, options: { readonly head?: string } = {}): Promise<Replay> {
  const entry = pathToFileURL(sharedPath('replay/replay-rpc.mjs')).href
  // `as`: plain JavaScript without types.
  const { startReplay: start } = (await import(entry)) as {
    startReplay(options: { set: string; head?: string }): Promise<Replay>
  }
  return start({ set: sharedPath(`replay/sets/${set}`), ...options })
}

/** The texts with which providers refuse a range of `eth_getLogs` as too wide. */
export async function rangeErrorIds(): Promise<string[]> {
  const entry = pathToFileURL(sharedPath('replay/lib/provider-errors.mjs')).href
  const { RANGE_ERRORS } = (await import(entry)) as { RANGE_ERRORS: readonly { readonly id: string }[] }
  return RANGE_ERRORS.map(({ id }) => id)
}

export function replayConfig(
  replay: Replay,
  networkId: number,
  overrides: Partial<NetworkConfig> = {},
): NetworkConfig {
  const network = replay.info.networks[networkId]!
  return {
    networkId,
    chainId: network.chainId,
    rpc: [{ url: network.rpc, alias: `network ${networkId} endpoint 0` }],
    bridge: network.bridge.toLowerCase(),
    globalExitRootManager: network.globalExitRootManager.toLowerCase(),
    ...(network.rollupManager === undefined ? {} : { rollupManager: network.rollupManager.toLowerCase() }),
    startBlock: network.startBlock,
    finality: { tag: 'latest', depth: 0 },
    rollbackBlocks: 512,
    logRange: 1000,
    pollIntervalMs: 1000,
    rpcTimeoutMs: 2000,
    rpcMaxResponseBytes: 64 * 1024 ** 2,
    stalledAfterMs: 0,
    callTraces: 'auto',
    gerInjection: 'auto',
    ...overrides,
  }
}
