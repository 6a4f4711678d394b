import {
  addressWord,
  bytesFromWord,
  hashWord,
  uint32Word,
  uint53Word,
  uint256Word,
  wordCount,
} from '../protocol/abiWords.js'
import type {
  ClaimEvent,
  DepositEvent,
  EventPosition,
  GlobalExitRootInjectedEvent,
  L1InfoLeafEvent,
  L1InfoRootEvent,
} from '../protocol/chainEvent.js'
import { asDepositCount, asLeafCount, asNetworkId } from '../protocol/units.js'

// Decoders for the events that make up nearly all of a history. Each reads the fixed layout straight from the hex text, and
// returns undefined for anything but the encoding that contracts write: the caller then lets viem judge.

type Topics = readonly string[]

const METADATA_OFFSET = 8 * 32

/** BridgeEvent: eight words, the seventh of which is the metadata's offset; then length and bytes of the metadata. */
export function decodeBridgeEvent(
  topics: Topics,
  data: string,
  position: EventPosition,
): DepositEvent | undefined {
  const leafType = uint32Word(data, 0)
  const originNetwork = uint32Word(data, 1)
  const originAddress = addressWord(data, 2)
  const destinationNetwork = uint32Word(data, 3)
  const destinationAddress = addressWord(data, 4)
  const amount = uint256Word(data, 5)
  const metadataOffset = uint32Word(data, 6)
  const depositCount = uint32Word(data, 7)
  const metadataLength = uint32Word(data, 8)
  if (topics.length !== 1 || metadataOffset !== METADATA_OFFSET) return undefined
  if (leafType < 0 || leafType > 0xff || originNetwork < 0 || destinationNetwork < 0 || depositCount < 0)
    return undefined
  if (originAddress === undefined || destinationAddress === undefined || amount === undefined)
    return undefined
  if (metadataLength < 0 || wordCount(data) !== 9 + Math.ceil(metadataLength / 32)) return undefined
  const metadata = bytesFromWord(data, 9, metadataLength)
  if (metadata === undefined) return undefined
  return {
    type: 'deposit',
    blockNumber: position.blockNumber,
    logIndex: position.logIndex,
    transactionHash: position.transactionHash,
    leafType,
    originNetwork: asNetworkId(originNetwork),
    originAddress,
    destinationNetwork: asNetworkId(destinationNetwork),
    destinationAddress,
    amount,
    metadata,
    depositCount: asDepositCount(depositCount),
    sender: null,
  }
}

/** ClaimEvent of etrog and later: five words. */
export function decodeClaimEvent(
  topics: Topics,
  data: string,
  position: EventPosition,
): ClaimEvent | undefined {
  if (topics.length !== 1 || wordCount(data) !== 5) return undefined
  const globalIndex = uint256Word(data, 0)
  const originNetwork = uint32Word(data, 1)
  const originAddress = addressWord(data, 2)
  const destinationAddress = addressWord(data, 3)
  const amount = uint256Word(data, 4)
  if (globalIndex === undefined || originNetwork < 0 || amount === undefined) return undefined
  if (originAddress === undefined || destinationAddress === undefined) return undefined
  return {
    type: 'claim',
    blockNumber: position.blockNumber,
    logIndex: position.logIndex,
    transactionHash: position.transactionHash,
    generation: 'v2',
    globalIndex,
    originNetwork: asNetworkId(originNetwork),
    originAddress,
    destinationAddress,
    amount,
    sender: null,
  }
}

/** UpdateL1InfoTree: both roots are topics; there is no data. */
export function decodeUpdateL1InfoTree(
  topics: Topics,
  data: string,
  position: EventPosition,
): L1InfoLeafEvent | undefined {
  const [, mainnetTopic, rollupTopic] = topics
  if (topics.length !== 3 || data.length > 2) return undefined
  const mainnetExitRoot = topicHash(mainnetTopic)
  const rollupExitRoot = topicHash(rollupTopic)
  if (mainnetExitRoot === undefined || rollupExitRoot === undefined) return undefined
  return {
    type: 'l1InfoLeaf',
    blockNumber: position.blockNumber,
    logIndex: position.logIndex,
    transactionHash: position.transactionHash,
    mainnetExitRoot,
    rollupExitRoot,
  }
}

/** UpdateL1InfoTreeV2: the leaf count is a topic; the data are three words. */
export function decodeUpdateL1InfoTreeV2(
  topics: Topics,
  data: string,
  position: EventPosition,
): L1InfoRootEvent | undefined {
  const leafCountTopic = topics[1]
  if (topics.length !== 2 || leafCountTopic?.length !== 66 || wordCount(data) !== 3) return undefined
  const leafCount = uint32Word(leafCountTopic, 0)
  const l1InfoRoot = hashWord(data, 0)
  const previousBlockHash = hashWord(data, 1)
  const timestampSec = uint53Word(data, 2)
  if (leafCount < 0 || l1InfoRoot === undefined || previousBlockHash === undefined || timestampSec < 0)
    return undefined
  return {
    type: 'l1InfoRoot',
    blockNumber: position.blockNumber,
    logIndex: position.logIndex,
    transactionHash: position.transactionHash,
    l1InfoRoot,
    leafCount: asLeafCount(leafCount),
    previousBlockHash,
    timestampSec,
  }
}

/** UpdateHashChainValue: the injected root and the hash chain are topics; there is no data. */
export function decodeUpdateHashChainValue(
  topics: Topics,
  data: string,
  position: EventPosition,
): GlobalExitRootInjectedEvent | undefined {
  if (topics.length !== 3 || data.length > 2) return undefined
  const globalExitRoot = topicHash(topics[1])
  if (globalExitRoot === undefined) return undefined
  return {
    type: 'gerInjected',
    blockNumber: position.blockNumber,
    logIndex: position.logIndex,
    transactionHash: position.transactionHash,
    globalExitRoot,
  }
}

function topicHash(topic: string | undefined) {
  return topic?.length === 66 ? hashWord(topic, 0) : undefined
}
