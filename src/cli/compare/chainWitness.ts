import { decodeEventLog, encodeFunctionData } from 'viem/utils'
import { openEndpoint } from '../../chain/probe/openEndpoint.js'
import { RpcFailure } from '../../chain/rpc/rpcFailure.js'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { eventTopics } from '../../events/eventTopics.js'
import { BRANCH_BYTES, isBranchOf } from '../../merkle/branch.js'
import type { Hasher } from '../../merkle/hasher.js'
import { hashDepositLeaf } from '../../merkle/leafHashes.js'
import {
  bridgeEventsAbi,
  bridgeFunctionsAbi,
  globalExitRootManagerFunctionsAbi,
} from '../../protocol/abis.js'
import { addressWord, uint256Word } from '../../protocol/abiWords.js'
import { claimedWordPosition, DEPOSITS_PER_WORD } from '../../protocol/claimedBitMap.js'
import { encodeGlobalIndex } from '../../protocol/globalIndex.js'
import { decodeHex, encodeHex } from '../../protocol/hex.js'
import { isL1, L1_NETWORK_ID, rollupIndexOf } from '../../protocol/networks.js'
import { isUint256Text } from '../../protocol/uint256.js'
import { asDepositCount, asNetworkId } from '../../protocol/units.js'
import type { Logger } from '../../telemetry/logger.js'

/** What an event tells of a deposit, and what follows from it. */
export type FactName =
  | 'blockNumber'
  | 'logIndex'
  | 'transactionHash'
  | 'leafType'
  | 'originNetwork'
  | 'originAddress'
  | 'destinationNetwork'
  | 'destinationAddress'
  | 'amount'
  | 'metadata'
  | 'depositCount'
  | 'leafHash'
  | 'globalIndex'

/** Each as text: decimal digits, or hexadecimal ones in lower case. */
export type DepositFacts = Readonly<Partial<Record<FactName, string>>>

/** A proof as a service tells it, with the roots that it belongs to. */
export interface ToldProof {
  readonly local: readonly string[]
  readonly rollup: readonly string[]
  readonly mainnetExitRoot: string
  readonly rollupExitRoot: string
}

type Call =
  | { readonly abi: 'bridge'; readonly data: string }
  | { readonly abi: 'globalExitRootManager'; readonly data: string }

const CALL_LIMIT_MS = 30_000

/**
 * Asks the configured endpoints who is right, and folds proofs. Nothing is believed of what a service tells: a proof counts when it leads
 * from the leaf to a root that the L1's manager knows.
 */
export class ChainWitness {
  readonly #networks: readonly NetworkConfig[]
  readonly #hasher: Hasher
  readonly #logger: Logger
  readonly #known = new Map<string, Promise<boolean | undefined>>()

  /** @param config absent: there is nobody to ask, and only proofs are folded. */
  constructor(config: Pick<Config, 'networks'> | undefined, hasher: Hasher, logger: Logger) {
    this.#networks = config?.networks ?? []
    this.#hasher = hasher
    this.#logger = logger
  }

  /** Whether proofs are held against the L1, or only folded to the roots that stand beside them. */
  get asksChain(): boolean {
    return this.#networks.some(({ networkId }) => networkId === L1_NETWORK_ID)
  }

  /**
   * Whether a proof leads from the bridge's leaf to its roots, and the L1 knows these.
   * @param bridge as the same service tells it. @returns undefined where the bridge's fields make no leaf.
   */
  async proofHolds(
    { networkId, depositCount }: { readonly networkId: number; readonly depositCount: number },
    bridge: DepositFacts,
    { local, rollup, mainnetExitRoot, rollupExitRoot }: ToldProof,
  ): Promise<boolean | undefined> {
    const leaf = this.#leafOf(bridge)
    if (leaf === undefined) return undefined
    const [localBranch, rollupBranch] = [branchOf(local), branchOf(rollup)]
    const [mainnet, rollups] = [decodeHex(mainnetExitRoot), decodeHex(rollupExitRoot)]
    if (mainnet?.length !== 32 || rollups?.length !== 32) return false
    if (localBranch === undefined || rollupBranch === undefined) return false
    const network = asNetworkId(networkId)
    const folds = isL1(network)
      ? isBranchOf(this.#hasher, mainnet, leaf, localBranch, depositCount)
      : isBranchOf(
          this.#hasher,
          rollups,
          this.#hasher.foldBranch(leaf, localBranch, depositCount),
          rollupBranch,
          rollupIndexOf(network),
        )
    if (!folds) return false
    return (await this.#knowsRoot(L1_NETWORK_ID, this.#hasher.hashPair(mainnet, rollups))) !== false
  }

  /** Whether a network's manager knows a global exit root now. @returns undefined where nobody tells. */
  #knowsRoot(networkId: number, globalExitRoot: Uint8Array): Promise<boolean | undefined> {
    const root = encodeHex(globalExitRoot)
    const key = `${networkId}:${root}`
    const known = this.#known.get(key) ?? this.#askRoot(networkId, root)
    this.#known.set(key, known)
    return known
  }

  async #askRoot(networkId: number, root: `0x${string}`): Promise<boolean | undefined> {
    const abi = globalExitRootManagerFunctionsAbi
    const data = encodeFunctionData({ abi, functionName: 'globalExitRootMap', args: [root] })
    const answer = await this.#call(networkId, { abi: 'globalExitRootManager', data })
    const word = answer === undefined ? undefined : uint256Word(answer, 0)
    return word === undefined ? undefined : word !== 0n
  }

  /** Whether a bridge was claimed on the network that it leads to. @returns undefined where nobody tells. */
  async isClaimed(networkId: number, source: number, depositCount: number): Promise<boolean | undefined> {
    const word = Math.floor(depositCount / DEPOSITS_PER_WORD)
    const position = claimedWordPosition(networkId, { sourceNetwork: asNetworkId(source), word })
    const data = encodeFunctionData({
      abi: bridgeFunctionsAbi,
      functionName: 'claimedBitMap',
      args: [BigInt(position)],
    })
    const answer = await this.#call(networkId, { abi: 'bridge', data })
    const bits = answer === undefined ? undefined : uint256Word(answer, 0)
    return bits === undefined ? undefined : ((bits >> BigInt(depositCount % DEPOSITS_PER_WORD)) & 1n) === 1n
  }

  /** @returns the token that stands for another on a network, in lower case; undefined where nobody tells. */
  async wrappedToken(
    networkId: number,
    originNetwork: number,
    originToken: string,
  ): Promise<string | undefined> {
    if (decodeHex(originToken)?.length !== 20) return undefined
    const data = encodeFunctionData({
      abi: bridgeFunctionsAbi,
      functionName: 'getTokenWrappedAddress',
      args: [originNetwork, originToken as `0x${string}`],
    })
    const answer = await this.#call(networkId, { abi: 'bridge', data })
    const address = answer === undefined ? undefined : addressWord(answer, 0)
    return address && encodeHex(address)
  }

  /**
   * What the receipt of a transaction tells of a deposit.
   * @returns null where it has no such event, or there is no such transaction; undefined where nobody tells.
   */
  async deposit(
    networkId: number,
    transactionHash: string,
    depositCount: number,
  ): Promise<DepositFacts | null | undefined> {
    const network = this.#networks.find((candidate) => candidate.networkId === networkId)
    if (network === undefined || decodeHex(transactionHash)?.length !== 32) return undefined
    const receipt = await this.#ask(network, 'eth_getTransactionReceipt', [transactionHash])
    if (receipt === undefined || receipt === null) return receipt
    const { logs } = receipt as { readonly logs?: readonly RpcLog[] }
    for (const log of logs ?? []) {
      if (log.address.toLowerCase() !== network.bridge || log.topics[0] !== eventTopics.BridgeEvent) continue
      const { args } = decodeEventLog({ abi: bridgeEventsAbi, eventName: 'BridgeEvent', ...log })
      if (args.depositCount !== depositCount) continue
      const facts: DepositFacts = {
        blockNumber: String(Number(log.blockNumber)),
        logIndex: String(Number(log.logIndex)),
        transactionHash: transactionHash.toLowerCase(),
        leafType: String(args.leafType),
        originNetwork: String(args.originNetwork),
        originAddress: args.originAddress.toLowerCase(),
        destinationNetwork: String(args.destinationNetwork),
        destinationAddress: args.destinationAddress.toLowerCase(),
        amount: String(args.amount),
        metadata: args.metadata,
        depositCount: String(depositCount),
        globalIndex: String(encodeGlobalIndex(asNetworkId(networkId), asDepositCount(depositCount))),
      }
      return { ...facts, leafHash: encodeHex(this.#leafOf(facts)!) }
    }
    return null
  }

  #leafOf(facts: DepositFacts): Uint8Array | undefined {
    const number = (name: FactName): number => Number(facts[name] ?? Number.NaN)
    const originAddress = decodeHex(facts.originAddress ?? '')
    const destinationAddress = decodeHex(facts.destinationAddress ?? '')
    const metadata = decodeHex(facts.metadata ?? '')
    const { amount } = facts
    const numbers = ['leafType', 'originNetwork', 'destinationNetwork'] as const
    if (originAddress?.length !== 20 || destinationAddress?.length !== 20 || metadata === undefined)
      return undefined
    if (amount === undefined || !isUint256Text(amount)) return undefined
    if (
      numbers.some((name) => !Number.isInteger(number(name)) || number(name) < 0 || number(name) >= 2 ** 32)
    )
      return undefined
    return hashDepositLeaf(this.#hasher, {
      leafType: number('leafType') & 0xff,
      originNetwork: asNetworkId(number('originNetwork')),
      originAddress,
      destinationNetwork: asNetworkId(number('destinationNetwork')),
      destinationAddress,
      amount: BigInt(amount),
      metadata,
    })
  }

  /** @returns undefined where no endpoint answers, or the contract does not. */
  async #call(networkId: number, { abi, data }: Call): Promise<string | undefined> {
    const network = this.#networks.find((candidate) => candidate.networkId === networkId)
    if (network === undefined) return undefined
    const answer = await this.#ask(network, 'eth_call', [{ to: network[abi], data }, 'latest'])
    return typeof answer === 'string' && answer.length >= 66 ? answer : undefined
  }

  async #ask(network: NetworkConfig, method: string, params: readonly unknown[]): Promise<unknown> {
    for (const position of network.rpc.keys()) {
      const endpoint = openEndpoint(network, position, this.#logger)
      if (!endpoint.serves('state')) continue
      try {
        return (await endpoint.call(method, params, AbortSignal.timeout(CALL_LIMIT_MS))) ?? null
      } catch (error) {
        if (!(error instanceof RpcFailure) && (error as Error).name !== 'TimeoutError') throw error
      }
    }
    return undefined
  }
}

interface RpcLog {
  readonly address: string
  readonly topics: [signature: `0x${string}`, ...`0x${string}`[]]
  readonly data: `0x${string}`
  readonly blockNumber: string
  readonly logIndex: string
}

/** @returns undefined where these are not 32 hashes. */
function branchOf(siblings: readonly string[]): Uint8Array | undefined {
  const nodes = siblings.map((sibling) => decodeHex(String(sibling)))
  const branch = Buffer.concat(nodes.map((node) => node ?? new Uint8Array()))
  return nodes.every((node) => node?.length === 32) && branch.length === BRANCH_BYTES ? branch : undefined
}
