import assert from 'node:assert/strict'
import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import type { BridgeStatusRecord } from '../../src/query/statusRecords.js'
import { getBridgeStatus } from '../../src/shard/queries/getBridgeStatus.js'
import { plainRow } from './expectedRows.js'
import type { IndexedWorld } from './indexedWorld.js'

/** A status as plain values: bytes as hex, and nothing of what is absent. */
export type PlainWay = Readonly<Record<string, unknown>> & {
  readonly stages: Readonly<Record<string, PlainStage>>
}
export type PlainStage = Readonly<Record<string, unknown>> & { readonly state: string }

/** The status of one deposit, its stages by name. */
export function wayOf(indexed: IndexedWorld, networkId: number, depositCount: number): PlainWay {
  const query = { networkId: asNetworkId(networkId), depositCount: asDepositCount(depositCount) }
  return indexed.ask((shards) => {
    const answer = getBridgeStatus(shards, query)
    assert.ok(answer.ok)
    assert.deepEqual([answer.value.total, answer.value.statuses.length], [1, 1])
    return plainWay(answer.value.statuses[0]!)
  })
}

export function plainWay({ stages, waitsFor, ...rest }: BridgeStatusRecord): PlainWay {
  return {
    ...plainRow(rest),
    waitsFor: waitsFor === null ? null : plainRow(waitsFor),
    stages: Object.fromEntries(
      stages.map(({ stage, ...facts }): [string, PlainStage] => [stage, plainRow(facts) as PlainStage]),
    ),
  }
}
