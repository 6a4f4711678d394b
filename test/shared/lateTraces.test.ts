import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultWorld } from './faultWorld.js'
import type { ExpectedBridge } from './replayControl.js'

interface Bridge {
  readonly deposit_count: number
  readonly origin_address: string | null
  readonly tx_sender: string | null
}

const refusals = [
  { code: -32000, message: 'execution timeout' },
  { code: -32601, message: 'the method debug_traceTransaction does not exist/is not available' },
]

for (const refusal of refusals)
  test(`a transaction whose trace is refused shows tx.from at once, delays no other sender, and shows its caller after a restart: ${refusal.message}`, async (t) => {
    const world = await FaultWorld.open(t, { set: 'base' })
    const bridges = (await world.chains[0]!.expected()).bridges.filter(
      ({ sourceNetwork }) => sourceNetwork === 0,
    )
    const late = bridges.filter(({ leafType, caller, txFrom }) => leafType === 0 && !isSame(caller, txFrom))
    assert.ok(late.length > 0, 'the set has deposits of contracts')
    const { txHash } = late[0]!
    await world.first('/fault', { network: 0, name: 'traceHiccup', txHash, ...refusal })
    const ask = async (filter = '') => {
      const path = `/bridge/v1/bridges?network_id=0&page_size=1000&order=asc${filter}`
      return (await world.service!.read<{ bridges: Bridge[] }>(path)).bridges
    }
    const callersAre = (rows: readonly Bridge[], callerOf: (bridge: ExpectedBridge) => string) =>
      rows.length === bridges.length &&
      rows.every(
        (row, index) => row.origin_address !== null && isSame(row.origin_address, callerOf(bridges[index]!)),
      )
    const fallback = (bridge: ExpectedBridge) =>
      bridge.txHash === txHash && bridge.leafType === 0 ? bridge.txFrom : bridge.caller

    const first = await world.start()
    await world.caughtUp(20_000)
    assert.ok(callersAre(await ask(), fallback), JSON.stringify(await ask()))

    await first.kill('SIGKILL')
    await world.first('/faults/clear', {})
    await world.start()
    await world.until(
      () => ask(),
      (rows) => callersAre(rows, ({ caller }) => caller),
      'the caller is corrected',
      30_000,
    )
    const own = late.filter((bridge) => bridge.txHash === txHash).map(({ depositCount }) => depositCount)
    for (const address of [late[0]!.caller, late[0]!.txFrom]) {
      const listed = (await ask(`&from_address=${address}`)).map((row) => row.deposit_count)
      assert.deepEqual(
        listed.filter((depositCount) => own.includes(depositCount)),
        own,
        address,
      )
    }
  })

const isSame = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()
