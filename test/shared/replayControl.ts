import { pathToFileURL } from 'node:url'
import { sharedPath } from '../support/sharedFolder.js'

/** What the replay server expects of the chains at their present heads, as far as these tests compare it. */
export interface ExpectedNow {
  readonly networks: Readonly<Record<string, { readonly head: number; readonly depositCount: number }>>
  readonly bridges: readonly ExpectedBridge[]
  /** Deposits that were cut off an exit tree, by network. */
  readonly archived: Readonly<Record<string, readonly Omit<ExpectedBridge, 'sourceNetwork'>[]>>
  /** Claims with a ClaimEvent. */
  readonly claims: readonly Omit<ClaimNow, 'kind'>[]
  /** Claims that an administrator made (SetClaim) or took back. */
  readonly claimMarks: readonly ClaimNow[]
  readonly l1InfoLeaves: readonly {
    readonly mainnetExitRoot: string
    readonly rollupExitRoot: string
    readonly globalExitRoot: string
  }[]
  /** In the order of the settlements. */
  readonly rollupExitRoots: readonly {
    readonly rollupId: number
    readonly exitRoot: string
    readonly rollupExitRoot: string
  }[]
}

export interface ClaimNow {
  readonly kind: 'set' | 'unset'
  /** Where it was claimed. */
  readonly network: number
  readonly sourceNetwork: number
  readonly depositCount: number
  readonly txHash: string
  readonly blockNumber: number
  readonly logIndex: number
}

export interface ExpectedBridge {
  readonly sourceNetwork: number
  readonly depositCount: number
  /** 0 asset, 1 message. */
  readonly leafType: number
  readonly txHash: string
  readonly txFrom: string
  /** Account that called the bridge. */
  readonly caller: string
  readonly amount: string
  readonly blockNumber: number
  readonly blockTimestamp: number
  readonly destinationNetwork: number
  /** Root of the source's local exit tree whose last leaf is this deposit. */
  readonly rootAfter: string
}

interface ReplayNetwork {
  readonly rpc: string
  readonly networkId: number
  readonly chainId: number
  readonly bridge: string
  readonly globalExitRootManager: string
  readonly rollupManager?: string
  readonly startBlock: number
}

/** Chains of one recorded set behind one endpoint per network. */
export interface ReplayChains {
  readonly networks: Readonly<Record<string, ReplayNetwork>>
  readonly control: string
  /** One request of the control endpoint, without HTTP. */
  command(path: string, body?: object): Promise<unknown>
  /** Each network's head, and its last block with recorded content. */
  heads(): Promise<Readonly<Record<string, ChainHead>>>
  expected(): Promise<ExpectedNow>
  close(): void
}

export interface ChainHead {
  readonly head: number
  readonly end: number
}

interface ReplayModule {
  startReplay(options: { set: string; head?: string; seed?: number }): Promise<{
    readonly info: { readonly networks: Readonly<Record<string, ReplayNetwork>>; readonly control: string }
    readonly ctl: {
      route(method: string, path: string, body: object, query: URLSearchParams): Promise<unknown>
    }
    close(): void
  }>
}

/** Serves a recorded set on free ports in this process. */
export async function startReplayChains(
  set: string,
  options: { readonly head?: string; readonly seed?: number } = {},
): Promise<ReplayChains> {
  // `as`: plain JavaScript without types.
  const module = (await import(pathToFileURL(sharedPath('replay', 'replay-rpc.mjs')).href)) as ReplayModule
  const replay = await module.startReplay({ set: sharedPath('replay', 'sets', set), ...options })
  const route = (method: string, path: string, body: object) =>
    replay.ctl.route(method, path, body, new URLSearchParams())
  return {
    networks: replay.info.networks,
    control: replay.info.control,
    command: (path, body = {}) => route('POST', path, body),
    heads: async () => {
      const state = await route('GET', '/state', {})
      return (state as { readonly networks: Readonly<Record<string, ChainHead>> }).networks
    },
    expected: async () => (await route('GET', '/expected', {})) as ExpectedNow,
    close: () => replay.close(),
  }
}
