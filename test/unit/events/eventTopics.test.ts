import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toEventSelector } from 'viem/utils'
import { eventTopics } from '../../../src/events/eventTopics.js'
import {
  addExistingRollupV4Abi,
  addExistingRollupV9Abi,
  bridgeEventsAbi,
  claimEventV1Abi,
  globalExitRootManagerEventsAbi,
  rollupManagerEventsAbi,
  setClaimV1Abi,
} from '../../../src/protocol/abis.js'

test('every pinned topic is the hash of the signature that the ABI declares', () => {
  const computed = Object.fromEntries([
    ...[...bridgeEventsAbi, ...globalExitRootManagerEventsAbi, ...rollupManagerEventsAbi].map((event) => [
      event.name,
      toEventSelector(event),
    ]),
    ['ClaimEventV1', toEventSelector(claimEventV1Abi[0])],
    ['SetClaimV1', toEventSelector(setClaimV1Abi[0])],
    ['AddExistingRollupV4', toEventSelector(addExistingRollupV4Abi[0])],
    ['AddExistingRollupV9', toEventSelector(addExistingRollupV9Abi[0])],
  ])
  assert.equal(Object.keys(computed).length, 32)
  assert.deepEqual({ ...eventTopics }, computed)
})
