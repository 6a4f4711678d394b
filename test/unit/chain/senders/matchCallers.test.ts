import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SenderLog } from '../../../../src/chain/chainClient.types.js'
import { readBridgeTrace } from '../../../../src/chain/senders/callTrace.js'
import { matchCallers } from '../../../../src/chain/senders/matchCallers.js'
import { decodeLog, eventFilterOf } from '../../../../src/events/decodeLog.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import { account, type FakeDeposit, tokenAddress, userContract } from '../../../support/fakeState.js'
import type { FakeFrame, FakeTransactionBuilder } from '../../../support/fakeTransaction.js'

/** Logs of a transaction as they are in a question. */
function questionOf(network: FakeNetwork, transactionHash: string): SenderLog[] {
  const filter = eventFilterOf(network.contracts)
  const position = { blockNumber: asBlockNumber(1), transactionHash: new Uint8Array(32) }
  return network.head.logs
    .filter((log) => log.transactionHash === transactionHash)
    .map((log) => decodeLog(log, { ...position, logIndex: log.logIndex }, filter))
    .flatMap((event) =>
      event?.type === 'deposit' || event?.type === 'claim' || event?.type === 'forwardLet'
        ? [{ kind: event.type, ...event }]
        : [],
    )
}

const withoutLogs = (frame: FakeFrame): FakeFrame => ({
  ...frame,
  logs: [],
  calls: frame.calls.map(withoutLogs),
})

interface Played {
  /** Callers by log index, from the fake chain. */
  readonly expected: Map<number, string>
  readonly logs: readonly SenderLog[]
  readonly trace: FakeFrame
  readonly network: FakeNetwork
}

/** Runs one transaction on network 1. Two deposits of the L1 can be claimed in it. */
function play(
  body: (tx: FakeTransactionBuilder, deposits: readonly FakeDeposit[]) => void,
  to: `0x${string}` | undefined = userContract(1),
): Played {
  const world = createFakeWorld({ networks: [1] })
  const [l1, network] = [world.network(0), world.network(1)]
  const deposits: FakeDeposit[] = []
  l1.mine((block) => {
    for (const leafType of [0, 1, 1, 0])
      deposits.push(
        block.tx().deposit({ destinationNetwork: 1, leafType, destinationAddress: userContract(7) }),
      )
  })
  network.mine((block) => body(block.tx({ from: account(5), ...(to ? { to } : {}) }), deposits))
  const { head } = network
  const transaction = head.transactions[0]!
  const rows = [...network.deposits(), ...network.claims()].filter((row) => row.blockNumber === head.number)
  return {
    expected: new Map(rows.map((row) => [row.logIndex, row.caller!])),
    logs: questionOf(network, transaction.hash),
    trace: transaction.trace,
    network,
  }
}

/** Both kinds of tracer must find every caller. */
function assertCallers({ expected, logs, trace, network }: Played, atLeast: number): void {
  const tracers: readonly (readonly [string, FakeFrame])[] = [
    ['with logs', trace],
    ['without logs', withoutLogs(trace)],
  ]
  assert.ok(expected.size >= atLeast, `${expected.size} logs`)
  for (const [title, told] of tracers) {
    const found = matchCallers(logs, readBridgeTrace(told, network.contracts.bridge))
    assert.deepEqual(new Map([...found].sort(([a], [b]) => a - b)), expected, title)
  }
}

test('several deposits of one contract all have that contract as caller', () => {
  assertCallers(
    play((tx) => {
      tx.deposit({ originAddress: tokenAddress(1), amount: 3n })
      tx.noise()
      tx.deposit({ amount: 3n })
      tx.deposit({ leafType: 1, amount: 0n })
    }),
    3,
  )
})

test('two deposits in one transaction that differ only in their caller each get their own caller', () => {
  assertCallers(
    play((tx) => {
      tx.through(userContract(2), () => tx.deposit())
      tx.deposit()
      tx.through(userContract(3), () => tx.through(userContract(4), () => tx.deposit()))
    }),
    3,
  )
})

test('a reverted call between two deposits is not matched with either', () => {
  assertCallers(
    play((tx) => {
      const reverted = play((other) => other.deposit({ amount: 8n })).trace.calls[0]!
      tx.through(userContract(2), () => tx.deposit({ amount: 8n }))
      tx.through(userContract(3), () => tx.revertedCall(reverted.to, reverted.input))
      tx.through(userContract(4), () => tx.deposit({ amount: 8n }))
    }),
    2,
  )
})

test('claims through a contract get their callers, in any order of their deposits', () => {
  assertCallers(
    play((tx, [first, second, third]) => {
      tx.claim({ deposit: third! })
      tx.through(userContract(2), () => tx.claim({ deposit: first! }))
      tx.claim({ deposit: second! })
    }),
    3,
  )
})

for (const eventLast of [false, true])
  test(`a claim inside a claim gets its own caller, with events ${eventLast ? 'last' : 'first'}`, () => {
    assertCallers(
      play((tx, [first, second, third]) => {
        tx.claim({
          deposit: second!,
          eventLast,
          during: () => {
            tx.claim({ deposit: third!, eventLast, during: () => tx.claim({ deposit: first!, eventLast }) })
          },
        })
      }),
      3,
    )
  })

test('a deposit that the receiver of a message makes during the claim gets the receiver as caller', () => {
  for (const eventLast of [false, true])
    assertCallers(
      play(
        (tx, [, second]) =>
          tx.claim({ deposit: second!, eventLast, during: () => tx.deposit({ amount: 9n }) }),
        undefined,
      ),
      2,
    )
})

test('claims from before etrog, and global indexes with unused bits set, get their callers', () => {
  assertCallers(
    play((tx, [first, second]) => {
      tx.claim({ deposit: first!, generation: 'v1' })
      tx.through(userContract(2), () =>
        tx.claim({ deposit: second!, globalIndex: second!.globalIndex | (1n << 200n) }),
      )
    }),
    2,
  )
})

test('the caller of ForwardLET is found by its event', () => {
  const leaf = {
    leafType: 0,
    originNetwork: 0,
    originAddress: tokenAddress(1),
    destinationNetwork: 0,
    destinationAddress: account(1),
    amount: 1n,
    metadata: '0x',
  } as const
  const { logs, trace, network } = play((tx) => tx.through(userContract(2), () => tx.forwardLet([leaf])))
  const found = matchCallers(logs, readBridgeTrace(trace, network.contracts.bridge))
  assert.deepEqual([...found.values()], [userContract(2)])
  assert.equal(logs[0]?.kind, 'forwardLet')
  assert.deepEqual(
    matchCallers(logs, readBridgeTrace(withoutLogs(trace), network.contracts.bridge)),
    new Map(),
  )
})

test('without logs in the trace, deposits that differ only in their caller stay open when the trace has a call too many', () => {
  const { logs, trace, network } = play((tx) => {
    tx.through(userContract(2), () => tx.deposit())
    tx.through(userContract(3), () => tx.deposit())
    tx.through(userContract(4), () => tx.deposit({ destinationAddress: account(8) }))
  })
  const cut = withoutLogs(trace)
  // A deposit by a call without a log in the question: three logs, four calls.
  cut.calls.push(cut.calls[0]!)
  const found = matchCallers(logs, readBridgeTrace(cut, network.contracts.bridge))
  assert.deepEqual([...found.values()], [userContract(4)], 'only the certain one')
})

test('logs of a frame are placed between its calls by their position', () => {
  const bridge = `0x${'b1'.repeat(20)}`
  const { network } = play((tx) => tx.deposit())
  const [log] = network.head.logs
  const event = { ...log!, address: bridge }
  const deposit = (count: number) =>
    `${event.data.slice(0, 2 + 7 * 64)}${count.toString(16).padStart(64, '0')}${event.data.slice(2 + 8 * 64)}`
  const inner = {
    type: 'CALL',
    from: bridge,
    to: bridge,
    input: '0x',
    logs: [{ ...event, data: deposit(1), position: '0x0' }],
  }
  const root = {
    type: 'CALL',
    from: account(1),
    to: bridge,
    input: '0x',
    calls: [inner],
    logs: [
      { ...event, data: deposit(0), position: '0x0' },
      { ...event, data: deposit(2), position: '0x1' },
    ],
  }
  const { events } = readBridgeTrace(root, bridge)
  assert.deepEqual(
    events.map(({ key, caller }) => [key, caller]),
    [
      [0n, account(1)],
      [1n, bridge],
      [2n, account(1)],
    ],
  )
})

test('a question about one log alone is not answered with the caller of a neighbouring log', () => {
  const deposits = play((tx) => {
    tx.through(userContract(2), () => tx.deposit())
    tx.through(userContract(3), () => tx.deposit({ destinationAddress: account(8) }))
  })
  const claims = play((tx, [first, second]) => {
    tx.through(userContract(2), () => tx.claim({ deposit: first! }))
    tx.through(userContract(3), () => tx.claim({ deposit: second! }))
  })
  for (const { expected, logs, trace, network } of [deposits, claims])
    for (const told of [trace, withoutLogs(trace)])
      for (const log of logs) {
        const found = matchCallers([log], readBridgeTrace(told, network.contracts.bridge))
        assert.deepEqual([...found], [[log.logIndex, expected.get(log.logIndex)]])
      }
})

test('an answer that is no trace reads as an empty trace', () => {
  for (const raw of [null, undefined, 7, 'trace', [], {}, { calls: 3, logs: {} }])
    assert.deepEqual(readBridgeTrace(raw, `0x${'b1'.repeat(20)}`), { calls: [], events: [] })
})

test('thousands of deposits in one transaction are matched with a few looks at each call, also when the trace has a call too many', () => {
  const count = 3_000
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const destinationAddress = new Uint8Array(20).fill(7)
  const logs = Array.from({ length: count }, (_, logIndex): SenderLog => {
    const told = { leafType: 0, destinationNetwork: 1, destinationAddress, amount: BigInt(logIndex) }
    return { kind: 'deposit', logIndex, depositCount: logIndex, ...told }
  })
  const address = Buffer.from(destinationAddress).toString('hex').padStart(64, '0')
  let looks = 0
  const calls = Array.from({ length: count + 1 }, (_, index) => ({
    caller: account(index % 2),
    value: '0x0',
    get input() {
      looks++
      return `0xcd586579${word(1)}${address}${word(index)}${word(0)}${word(0)}${word(192)}${word(0)}`
    },
  }))
  for (const shown of [calls, calls.slice(0, count)]) {
    looks = 0
    const callers = matchCallers(logs, { calls: shown, events: [] })
    assert.deepEqual(
      [...callers],
      logs.map(({ logIndex }) => [logIndex, account(logIndex % 2)]),
    )
    assert.ok(looks < 20 * count, `${looks} looks at ${count} calls`)
  }
})

test('a call whose input is a property name of every JavaScript object matches no deposit', () => {
  const calls = [{ caller: account(1), value: '0x0', input: '__proto__' }]
  const log: SenderLog = { kind: 'deposit', logIndex: 0, depositCount: 0, amount: 1n }
  assert.equal(matchCallers([log], { calls, events: [] }).size, 0)
})
