import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReplies } from '../../../../src/chain/rpc/parseReplies.js'
import { senderKey } from '../../../../src/chain/senderKey.js'
import { decodeLog } from '../../../../src/events/decodeLog.js'
import type { PackedLogs } from '../../../../src/events/packedLogs.js'
import { rowsFrom } from '../../../../src/events/rowsOfLogs.js'
import { resolveBeforeCommit } from '../../../../src/indexer/senders/batchSenders.js'
import { bridgeEventsAbi } from '../../../../src/protocol/abis.js'
import type { ChainEvent } from '../../../../src/protocol/chainEvent.js'
import { compileMerkleModule, createLogScanner } from '../../../../src/wasm/wasmModule.js'
import { contracts, encodeLog, l1Filter, position } from '../../../support/encodedLogs.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const eventAbi = (name: string) =>
  bridgeEventsAbi.find((item) => item.type === 'event' && item.name === name)!
const address = (digit: string) => `0x${digit.repeat(40)}`
const shared = { originNetwork: 0, originAddress: address('1'), destinationAddress: address('2') }
const logs = [
  encodeLog(contracts.bridge, eventAbi('BridgeEvent') as never, {
    ...shared,
    ...{ leafType: 0, destinationNetwork: 3, amount: 2n ** 200n, metadata: '0xabcd', depositCount: 5 },
  }),
  encodeLog(contracts.bridge, eventAbi('ClaimEvent') as never, { ...shared, globalIndex: 7n, amount: 9n }),
]

test('events that arrived packed get their senders before the commit, and keep all their fields', async () => {
  const raw = logs.map((log, logIndex) => ({
    ...log,
    ...{ blockNumber: '0x7', blockHash: `0x${'bb'.repeat(32)}`, transactionHash: `0x${'77'.repeat(32)}` },
    logIndex: `0x${logIndex}`,
  }))
  const text = Buffer.from(JSON.stringify({ id: 1, result: raw }))
  const scanner = createLogScanner(compileMerkleModule())
  const { result } = parseReplies(text, { scanner, filter: l1Filter }) as { result: PackedLogs }
  const events = [rowsFrom(result, 0, 2)!, rowsFrom(result, 1, 2)!]
  assert.deepEqual(
    events.map(({ type, from, to }) => ({ type, from, to })),
    [
      { type: 'depositRows', from: 0, to: 1 },
      { type: 'claimRows', from: 1, to: 2 },
    ],
  )
  const header = {
    ...{ number: position.blockNumber, hash: new Uint8Array(32), parentHash: new Uint8Array(32) },
    timestampSec: 1,
  }
  const sender = { caller: new Uint8Array(20).fill(1), transactionSender: new Uint8Array(20).fill(2) }
  const key = (logIndex: number) => senderKey(position.transactionHash, logIndex)
  const asked: unknown[] = []
  const client = {
    resolveSenders: async (questions: readonly { readonly logs: readonly unknown[] }[]) => {
      asked.push(...questions.flatMap((question) => question.logs))
      return new Map([0, 1].map((logIndex) => [key(logIndex), { ...sender, isProvisional: false }]))
    },
  }
  const budget = { clock: new VirtualClock(), ms: 1_000 }
  const { signal } = new AbortController()
  const [block] = await resolveBeforeCommit(client, [{ header, events }], budget, signal)
  const expected = logs.map((log, logIndex) => decodeLog(log, { ...position, logIndex }, l1Filter)!)
  const fieldsOf = (event: ChainEvent) => ({ ...event, sender: undefined })
  assert.deepEqual(block!.events.map(fieldsOf), expected.map(fieldsOf))
  for (const event of block!.events) assert.ok('sender' in event && event.sender !== null)
  assert.deepEqual(
    asked.map((log) => ({ ...(log as object), kind: undefined })),
    expected.map((event) => ({ ...event, kind: undefined })),
  )
})
