import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bridgesParser, claimsParser } from '../../../../../src/api/dialects/zkevm/zkevmParameters.js'

test('rows of all networks are reached up to 10,000 back, those of one network at any place', () => {
  const served = new Set([0, 1])
  const isRead = (parser: typeof bridgesParser | typeof claimsParser, raw: string) => parser(served)(raw).ok
  for (const parser of [bridgesParser, claimsParser])
    assert.deepEqual(
      ['offset=10000', 'offset=10001'].map((raw) => isRead(parser, raw)),
      [true, false],
    )
  assert.ok(isRead(bridgesParser, 'offset=10001&net_id=1'))
})
