import {
  addressWord,
  hashWord,
  uint32Word,
  uint53Word,
  uint256Word,
  wordCount,
} from '../protocol/abiWords.js'
import type {
  ClaimEvent,
  EventPosition,
  GlobalExitRootInjectedEvent,
  L1InfoLeafEvent,
  L1InfoRootEvent,
} from '../protocol/chainEvent.js'
import { asLeafCount, asNetworkId } from '../protocol/units.js'

// Decoders for the frequent events besides BridgeEvent. Each reads the fixed layout straight from the hex text, and
// returns undefined for anything but the encoding that contracts write: the caller then lets viem judge.

type Topics = readonly string[]

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
