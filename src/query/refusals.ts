import type { HaltReason } from '../board/haltReason.js'
import { WHOLE_METADATA_BYTES } from '../protocol/metadata.js'
import { type Failure, failure } from './answers.js'

/** Every way a query says no, with its text: fact, value, limit. */

/** Blocks, settlements and injections come in seconds to minutes: a caller that waits this long asks seldom in vain. */
const RETRY_SEC = 30
/** A halted network reads again from its last verified point by itself, or an operator acts. */
const HALTED_RETRY_SEC = 60

export function networkNotServed(networkId: number): Failure {
  return failure('INVALID_NETWORK_ID', `Network ID ${networkId} is not supported`)
}

export function depositNotIndexed(networkId: number, depositCount: number, count: number): Failure {
  return failure(
    'BRIDGE_NOT_FOUND',
    `Deposit ${depositCount} of network ${networkId} is not indexed: ${count} deposits are`,
  )
}

/** @param transactionHash 0x and 64 hexadecimal digits. */
export function transactionNotIndexed(transactionHash: string): Failure {
  return failure('BRIDGE_NOT_FOUND', `Transaction ${transactionHash} has no bridge that is indexed here`)
}

export function networkHalted(networkId: number, reason: HaltReason): Failure {
  return failure(
    'SERVICE_UNAVAILABLE',
    `Network ${networkId} is halted (${reason}): proofs that need it are refused until it has recovered`,
    HALTED_RETRY_SEC,
  )
}

export function networkDiverged(networkId: number): Failure {
  return failure(
    'SERVICE_UNAVAILABLE',
    `What this instance has stored of network ${networkId} differs from its log (diverged): another instance answers, and this one once it has a new store`,
    RETRY_SEC,
  )
}

export function notCoveredYet(networkId: number, depositCount: number, leafCount: number): Failure {
  return failure(
    'PROOF_NOT_AVAILABLE',
    `Deposit ${depositCount} of network ${networkId} is in none of the ${leafCount} L1 info leaves yet`,
    RETRY_SEC,
  )
}

export function notInjectedYet(destinationNetwork: number, firstCoveringIndex: number): Failure {
  return failure(
    'PROOF_NOT_AVAILABLE',
    `Network ${destinationNetwork} accepts no L1 info leaf from index ${firstCoveringIndex} on yet`,
    RETRY_SEC,
  )
}

export function notFinalYet(index: number, blockNumber: number, finalizedBlock: number): Failure {
  return withoutLeaf(
    `L1 info leaf ${index} is in block ${blockNumber}, above the final block ${finalizedBlock}`,
  )
}

export function leafIndexBeyondTip(leafIndex: number, leafCount: number): Failure {
  return withoutLeaf(`leaf_index ${leafIndex} is beyond the tip: ${leafCount} L1 info leaves are indexed`)
}

function withoutLeaf(message: string): Failure {
  return { ...failure('PROOF_NOT_AVAILABLE', message, RETRY_SEC), lacking: 'l1_info_leaf' }
}

export function leafIndexTooSmall(leafIndex: number, depositCount: number, covered: number): Failure {
  return failure(
    'PROOF_NOT_AVAILABLE',
    `leaf_index ${leafIndex} is too small: it covers the deposits below ${covered}, not deposit ${depositCount}`,
  )
}

/** The source's shard is behind the L1: it will know the root once it has caught up. */
export function localExitRootNotIndexed(networkId: number, leafIndex: number): Failure {
  return failure(
    'PROOF_NOT_AVAILABLE',
    `The exit root of network ${networkId} under L1 info leaf ${leafIndex} is not indexed yet`,
    RETRY_SEC,
  )
}

/** Leaves right after the etrog upgrade carry a root of no tree. */
export function rollupExitRootUnresolvable(leafIndex: number): Failure {
  return failure(
    'PROOF_NOT_AVAILABLE',
    `The rollup exit root of L1 info leaf ${leafIndex} is from before the rollup exit tree: use a later leaf`,
  )
}

export function otherLineage(
  leafIndex: number,
  depositCount: number,
  shared: number,
  sharesMore: boolean,
): Failure {
  const some = sharesMore ? ' and some above' : ''
  return failure(
    'PROOF_NOT_AVAILABLE',
    `L1 info leaf ${leafIndex} holds the exit tree before it was cut: it shares the deposits below ${shared}${some}, not deposit ${depositCount}`,
  )
}

export function destinationUnknown(destinationNetwork: number): Failure {
  const text = `Destination network ${destinationNetwork} is not indexed here: its bridge and chain are unknown`
  return { ...failure('PROOF_NOT_AVAILABLE', text), lacking: 'destination' }
}

/** @param globalExitRoot 0x and 64 hexadecimal digits. */
export function globalExitRootUnknown(globalExitRoot: string): Failure {
  const text = `No L1 info leaf with the global exit root ${globalExitRoot} is indexed`
  return { ...failure('PROOF_NOT_AVAILABLE', text, RETRY_SEC), lacking: 'global_exit_root' }
}

export function metadataTooLong(networkId: number, depositCount: number, length: number): Failure {
  return failure(
    'PROOF_NOT_AVAILABLE',
    `Deposit ${depositCount} of network ${networkId} has ${length} bytes of metadata: a claim call is made of up to ${WHOLE_METADATA_BYTES}`,
  )
}

export function cursorOutdated(): Failure {
  return failure(
    'INVALID_PARAMETER',
    'cursor is from before a reorganization that replaced rows of this list: start again without it',
  )
}
