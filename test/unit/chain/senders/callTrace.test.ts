import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SenderLog } from '../../../../src/chain/chainClient.types.js'
import { readBridgeTrace } from '../../../../src/chain/senders/callTrace.js'
import { matchCallers } from '../../../../src/chain/senders/matchCallers.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { account, userContract } from '../../../support/fakeState.js'

/** A frame as one of the tracers prints it. */
interface Printed {
  readonly [field: string]: unknown
  readonly calls?: readonly Printed[]
}

const [user, proxy, implementation, library, stranger] = [
  account(5),
  userContract(1),
  userContract(2),
  userContract(3),
  userContract(4),
]

const network = createFakeWorld({ networks: [1] }).network(1)
network.mine((block) => block.tx({ from: user, to: proxy }).deposit())
const { bridge } = network.contracts
const [deposit] = network.deposits()
const logs: readonly SenderLog[] = [
  {
    kind: 'deposit',
    logIndex: 0,
    leafType: 0,
    depositCount: deposit!.depositCount,
    destinationNetwork: deposit!.destinationNetwork,
    destinationAddress: Buffer.from(deposit!.destinationAddress.slice(2), 'hex'),
    amount: deposit!.amount,
  },
]
/** The call of the bridge with its DELEGATECALL and log, as geth traces a call of `proxy`. */
const bridgeCall = network.head.transactions[0]!.trace.calls[0]! as unknown as Printed
const bridgeCode = bridgeCall.calls![0]!

const frame = (type: string, from: unknown, to: unknown, calls: readonly Printed[], more = {}): Printed => ({
  ...{ type, from, to, input: '0x12345678', value: '0x0', gas: '0x1', gasUsed: '0x1' },
  ...more,
  calls,
})
/** The call of the bridge, with `from` as printed. */
const called = (from: unknown, more = {}): Printed => ({ ...bridgeCall, from, ...more })
/** A user's call of the proxy, which runs the implementation's code. */
const throughProxy = (delegate: Printed): Printed => frame('CALL', user, proxy, [delegate])

const withoutLogs = ({ logs: _, calls, ...rest }: Printed): Printed => ({
  ...rest,
  ...(calls === undefined ? {} : { calls: calls.map(withoutLogs) }),
})

/** Form, trace, and the caller of the bridge. Undefined: the trace contradicts itself, and no caller is certain. */
const forms: readonly (readonly [string, Printed, string | undefined])[] = [
  [
    'geth, erigon, nethermind',
    throughProxy(frame('DELEGATECALL', proxy, implementation, [called(proxy)])),
    proxy,
  ],
  [
    'inner calls are from the address of the implementation',
    throughProxy(frame('DELEGATECALL', proxy, implementation, [called(implementation)])),
    proxy,
  ],
  [
    'first reth, anvil, ethrex: the DELEGATECALL is from the caller of the proxy',
    throughProxy(frame('DELEGATECALL', user, implementation, [called(proxy)])),
    proxy,
  ],
  [
    'first zkevm-node: inner calls are from the caller of the proxy too',
    throughProxy(frame('DELEGATECALL', user, implementation, [called(user)])),
    proxy,
  ],
  [
    'moonbeam, neon: the DELEGATECALL goes to the proxy itself',
    throughProxy(frame('DELEGATECALL', user, proxy, [called(proxy)])),
    proxy,
  ],
  [
    'a DELEGATECALL within a DELEGATECALL',
    throughProxy(
      frame('DELEGATECALL', proxy, implementation, [
        frame('DELEGATECALL', implementation, library, [called(library)]),
      ]),
    ),
    proxy,
  ],
  ['CALLCODE', throughProxy(frame('CALLCODE', proxy, implementation, [called(implementation)])), proxy],
  [
    'a library that the implementation calls is the caller',
    throughProxy(
      frame('DELEGATECALL', proxy, implementation, [
        frame('CALL', implementation, library, [called(library)]),
      ]),
    ),
    library,
  ],
  [
    'a call without from',
    throughProxy(frame('DELEGATECALL', proxy, implementation, [called(undefined)])),
    proxy,
  ],
  [
    'besu: addresses and types in capitals',
    frame('CALL', user, proxy.toUpperCase().replace('X', 'x'), [called(proxy)]),
    proxy,
  ],
  [
    'zkSync: types in small letters, no error is null, and the value goes through a system contract',
    frame('Call', `0x${'0'.repeat(40)}`, `0x${'8001'.padStart(40, '0')}`, [
      frame('Call', `0x${'8001'.padStart(40, '0')}`, user, [
        frame('Call', user, `0x${'8009'.padStart(40, '0')}`, [
          called(user, { type: 'Call', error: null, revertReason: null }),
        ]),
      ]),
    ]),
    user,
  ],
  ['a constructor calls', frame('CREATE', user, proxy, [called(proxy)]), proxy],
  [
    'a constructor whose contract address is missing',
    frame('CREATE2', user, undefined, [called(proxy)]),
    proxy,
  ],
  [
    'the log has the address of the implementation',
    frame('CALL', user, proxy, [
      called(proxy, {
        calls: [
          {
            ...bridgeCode,
            logs: (bridgeCode.logs as object[]).map((log) => ({ ...log, address: bridgeCode.to })),
          },
        ],
      }),
    ]),
    proxy,
  ],
  ['a call from an account that is not running', frame('CALL', user, proxy, [called(stranger)]), undefined],
  [
    'a call from the implementation, outside of its DELEGATECALL',
    frame('CALL', user, proxy, [frame('DELEGATECALL', proxy, implementation, []), called(implementation)]),
    undefined,
  ],
  [
    'a reverted call that only a revert reason marks',
    throughProxy(
      frame('DELEGATECALL', proxy, implementation, [called(proxy)], { revertReason: '0x08c379a0' }),
    ),
    undefined,
  ],
]

for (const [form, trace, caller] of forms)
  test(`a trace shows the caller of the bridge, or none where it contradicts itself: ${form}`, () => {
    for (const told of [trace, withoutLogs(trace)]) {
      const callers = matchCallers(logs, readBridgeTrace(told, bridge))
      assert.deepEqual([...callers.values()], caller === undefined ? [] : [caller])
    }
  })
