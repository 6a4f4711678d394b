import type { Address, TransactionReceipt } from 'viem'
import { isInjected } from './actions.js'
import type { Devnet } from './devnet.js'
import { DevnetError } from './devnetError.js'
import { claimAgainst, type Ledger, type LedgerDeposit, type LedgerInfoLeaf, readLedger } from './ledger.js'
import { sendClaim } from './sendClaim.js'

/**
 * Claims a deposit with a proof made from the chains' events, without the service.
 * @param network the source network of the deposit.
 * @param deposit its deposit count there.
 * @throws DevnetError when there is no such deposit or no usable leaf covers it.
 */
export async function claimFromLedger(
  devnet: Devnet,
  { network, deposit, from }: { network: number; deposit: number; from: Address },
): Promise<TransactionReceipt> {
  const ledger = await readLedger(devnet)
  const described = ledger.deposits[network]?.[deposit]
  if (described === undefined) throw new DevnetError(`network ${network} has no deposit ${deposit}`)
  const infoLeaf = await findUsableLeaf(devnet, ledger, described)
  if (infoLeaf === undefined)
    throw new DevnetError(`deposit ${deposit} of network ${network} is not claimable yet`)
  const destination = devnet.chains[described.destinationNetwork]!
  return sendClaim(destination, from, claimAgainst(ledger, described, infoLeaf))
}

/** The newest L1 info leaf that covers the deposit and whose global exit root is known at the destination. */
export async function findUsableLeaf(
  devnet: Devnet,
  ledger: Ledger,
  { sourceNetwork, depositCount, destinationNetwork }: LedgerDeposit,
): Promise<LedgerInfoLeaf | undefined> {
  const destination = devnet.chains[destinationNetwork]!
  for (const infoLeaf of ledger.infoLeaves.toReversed()) {
    if ((infoLeaf.coveredDeposits[sourceNetwork] ?? 0) <= depositCount) return undefined
    // The L1 knows all its global exit roots without injection.
    if (destinationNetwork === 0 || (await isInjected(destination, infoLeaf.globalExitRoot))) return infoLeaf
  }
  return undefined
}
