/** What is public of a deployment: all that a network's table needs besides its endpoints. */
export interface Preset {
  readonly layer1ChainId: number
  /** The same address on layer 1 and on every layer 2. */
  readonly bridge: string
  readonly globalExitRootManager: string
  readonly rollupManager: string
  /** At or below the first event of the deployment's contracts. */
  readonly startBlock: number
  /** Chain id of network 1, 2, …: rollup ids count from 1 without a gap. */
  readonly layer2ChainIds: readonly number[]
}

/** Global exit root manager of a layer 2, from the genesis that chains are made with; one with another address overrides it. */
const LAYER2_GER_MANAGER = '0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA'

/**
 * Public deployments, from 0xPolygon/cdk-contracts-tooling of December 2025. Start blocks of the testnets are those in which the
 * rollup manager was made, rounded down to thousands, because the bridge was deployed shortly before.
 */
export const presets = {
  mainnet: {
    layer1ChainId: 1,
    bridge: '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe',
    globalExitRootManager: '0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb',
    rollupManager: '0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2',
    startBlock: 16_896_718,
    layer2ChainIds: [
      1101, 3776, 196, 4913, 1511670449, 1702448187, 994873017, 31415, 511252203, 2355, 999, 938, 752025,
      9369, 623, 3344, 801, 45056, 8088, 747474, 838, 8338, 3864, 6767,
    ],
  },
  cardona: {
    layer1ChainId: 11_155_111,
    bridge: '0x528e26b25a34a4A5d0dbDa1d57D318153d2ED582',
    globalExitRootManager: '0xAd1490c248c5d3CbAE399Fd529b79B42984277DF',
    rollupManager: '0x32d33D5137a7cFFb54c5Bf8371172bcEc5f310ff',
    startBlock: 4_789_000,
    layer2ChainIds: [
      2442, 6038361, 33303, 823656, 671276500, 879490799, 195, 190, 191, 192, 193, 1952959480, 883424730,
      1297206718, 317580618, 1722641160, 1570754601, 1304267893, 1668201165, 720380884, 50591822, 1093502521,
    ],
  },
  bali: {
    layer1ChainId: 11_155_111,
    bridge: '0x1348947e282138d8f377b467F7D9c2EB0F335d1f',
    globalExitRootManager: '0x2968D6d736178f8FE7393CC33C87f29D9C287e78',
    rollupManager: '0xE2EF6215aDc132Df6913C8DD16487aBF118d1764',
    startBlock: 4_794_000,
    layer2ChainIds: [
      2440, 99901, 99902, 82286, 10000196, 1000197, 1238446921, 407985408, 419202691, 781, 457, 2445, 458,
      459, 460, 461, 462, 463, 464, 465, 466,
    ],
  },
  spec: {
    layer1ChainId: 11_155_111,
    bridge: '0xa57048658797e7D2691da929eFE85Cf635b82Db6',
    globalExitRootManager: '0x8862311508ABB0472BA833A3FAFc412b10c98a75',
    rollupManager: '0xb427503Fb181eB6732C8B8894fF8b59d0d7c8991',
    startBlock: 9_277_000,
    layer2ChainIds: [111, 222, 333, 444, 555, 666, 777, 888, 999, 101010, 111111, 121212, 131313, 141414],
  },
} as const satisfies Readonly<Record<string, Preset>>

/** A network's keys by the preset, without its endpoints; undefined for a network that the preset does not know. */
export function presetNetwork(
  preset: Preset,
  networkId: number,
): Readonly<Record<string, unknown>> | undefined {
  const isLayer1 = networkId === 0
  const chainId = isLayer1 ? preset.layer1ChainId : preset.layer2ChainIds[networkId - 1]
  if (chainId === undefined) return undefined
  return {
    chain_id: chainId,
    bridge: preset.bridge,
    global_exit_root_manager: isLayer1 ? preset.globalExitRootManager : LAYER2_GER_MANAGER,
    ...(isLayer1 ? { rollup_manager: preset.rollupManager, start_block: preset.startBlock } : {}),
  }
}
