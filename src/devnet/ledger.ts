import type { Address, Hex } from 'viem'
import { concat, encodePacked, keccak256 } from 'viem/utils'
import { bridgeAbi, globalExitRootManagerL1Abi, rollupManagerAbi } from './contractAbis.js'
import type { Devnet } from './devnet.js'
import { branchOf, rootOver } from './exitTree.js'
import type { ClaimRequest } from './sendClaim.js'

/** One deposit, from its BridgeEvent. */
export interface LedgerDeposit {
  readonly sourceNetwork: number
  readonly depositCount: number
  readonly leafType: number
  readonly originNetwork: number
  readonly originAddress: Address
  readonly destinationNetwork: number
  readonly destinationAddress: Address
  readonly amount: bigint
  readonly metadata: Hex
  readonly leaf: Hex
  readonly transactionHash: Hex
}

/** One L1 info leaf, and what its two roots commit to. */
export interface LedgerInfoLeaf {
  readonly mainnetExitRoot: Hex
  readonly rollupExitRoot: Hex
  readonly globalExitRoot: Hex
  readonly blockNumber: bigint
  /** Local exit roots of networks 1, 2, … in the rollup exit tree. */
  readonly localExitRoots: readonly Hex[]
  /** By network id: the number of deposits that the leaf covers. */
  readonly coveredDeposits: readonly number[]
}

/** The state of the devnet, read from the contracts' events. */
export interface Ledger {
  /** By network id, then by deposit count. */
  readonly deposits: readonly (readonly LedgerDeposit[])[]
  /** By l1InfoTreeIndex. */
  readonly infoLeaves: readonly LedgerInfoLeaf[]
}

const noRoot: Hex = `0x${'00'.repeat(32)}`
const wholeChain = { fromBlock: 0n, toBlock: 'latest' } as const

/** Reads all events of the devnet. Only for small chains: the root after each deposit is computed from scratch. */
export async function readLedger(devnet: Pick<Devnet, 'chains'>): Promise<Ledger> {
  const deposits = await Promise.all(devnet.chains.map(readDeposits))
  const leafCountsByRoot = deposits.map((ofNetwork) => {
    const leaves = ofNetwork.map(({ leaf }) => leaf)
    const counts = new Map<Hex, number>([[noRoot, 0]])
    for (let count = 0; count <= leaves.length; count++) counts.set(rootOver(leaves.slice(0, count)), count)
    return counts
  })
  const settled = await readRollupExitRoots(devnet)
  const [l1] = devnet.chains
  const updates = await l1.client.getContractEvents({
    ...wholeChain,
    address: l1.contracts.globalExitRootManager,
    abi: globalExitRootManagerL1Abi,
    eventName: 'UpdateL1InfoTree',
    strict: true,
  })
  const infoLeaves = updates.map(({ args: { mainnetExitRoot, rollupExitRoot }, blockNumber }) => {
    const localExitRoots = settled.get(rollupExitRoot) ?? []
    return {
      mainnetExitRoot,
      rollupExitRoot,
      globalExitRoot: keccak256(concat([mainnetExitRoot, rollupExitRoot])),
      blockNumber,
      localExitRoots,
      coveredDeposits: [mainnetExitRoot, ...localExitRoots].map(
        (root, networkId) => leafCountsByRoot[networkId]?.get(root) ?? 0,
      ),
    }
  })
  return { deposits, infoLeaves }
}

/** Makes the claim of `deposit`, with a proof against an L1 info leaf that must cover it. */
export function claimAgainst(ledger: Ledger, deposit: LedgerDeposit, infoLeaf: LedgerInfoLeaf): ClaimRequest {
  const { sourceNetwork, depositCount, leaf: _, transactionHash: __, ...described } = deposit
  const covered = infoLeaf.coveredDeposits[sourceNetwork] ?? 0
  const leaves = ledger.deposits[sourceNetwork]!.slice(0, covered).map(({ leaf }) => leaf)
  const fromL1 = sourceNetwork === 0
  return {
    ...described,
    smtProofLocalExitRoot: branchOf(leaves, depositCount),
    // The contract ignores it for deposits of the L1.
    smtProofRollupExitRoot: fromL1
      ? Array<Hex>(32).fill(noRoot)
      : branchOf(infoLeaf.localExitRoots, sourceNetwork - 1),
    globalIndex: fromL1
      ? 2n ** 64n + BigInt(depositCount)
      : (BigInt(sourceNetwork - 1) << 32n) + BigInt(depositCount),
    mainnetExitRoot: infoLeaf.mainnetExitRoot,
    rollupExitRoot: infoLeaf.rollupExitRoot,
  }
}

async function readDeposits({
  client,
  contracts,
  networkId,
}: Devnet['chains'][number]): Promise<LedgerDeposit[]> {
  const logs = await client.getContractEvents({
    ...wholeChain,
    address: contracts.bridge,
    abi: bridgeAbi,
    eventName: 'BridgeEvent',
    strict: true,
  })
  return logs.map(({ args, transactionHash }) => ({
    sourceNetwork: networkId,
    ...args,
    leaf: leafOf(args),
    transactionHash,
  }))
}

function leafOf(
  args: Omit<LedgerDeposit, 'sourceNetwork' | 'depositCount' | 'leaf' | 'transactionHash'>,
): Hex {
  return keccak256(
    encodePacked(
      ['uint8', 'uint32', 'address', 'uint32', 'address', 'uint256', 'bytes32'],
      [
        args.leafType,
        args.originNetwork,
        args.originAddress,
        args.destinationNetwork,
        args.destinationAddress,
        args.amount,
        keccak256(args.metadata),
      ],
    ),
  )
}

/** Every rollup exit root so far, with its local exit roots. */
async function readRollupExitRoots({ chains }: Pick<Devnet, 'chains'>): Promise<Map<Hex, readonly Hex[]>> {
  const [l1, ...l2s] = chains
  const settlements = await l1.client.getContractEvents({
    ...wholeChain,
    address: l1.contracts.rollupManager!,
    abi: rollupManagerAbi,
    eventName: 'VerifyBatchesTrustedAggregator',
    strict: true,
  })
  const localExitRoots = l2s.map(() => noRoot)
  // L1 info leaves before the first settlement have a rollup exit root of zero, not the root of an empty tree.
  const known = new Map<Hex, readonly Hex[]>([[noRoot, [...localExitRoots]]])
  for (const { args } of settlements) {
    localExitRoots[args.rollupID - 1] = args.exitRoot
    known.set(rootOver(localExitRoots), [...localExitRoots])
  }
  return known
}
