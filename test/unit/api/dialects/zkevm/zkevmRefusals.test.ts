import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse } from '../../../../../src/api/dialects/zkevm/zkevmRefusals.js'
import { failure } from '../../../../../src/query/answers.js'
import { globalExitRootUnknown, networkHalted, notCoveredYet } from '../../../../../src/query/refusals.js'

test('what a handler refuses is code 2 with HTTP 500, what the gateway refuses has codes of its own', () => {
  for (const [failed, status, code] of [
    [failure('BRIDGE_NOT_FOUND', ''), 500, 2],
    [failure('INVALID_NETWORK_ID', ''), 500, 2],
    [notCoveredYet(1, 2, 3), 500, 2],
    [globalExitRootUnknown('0x'), 500, 2],
    [failure('INTERNAL_ERROR', ''), 500, 2],
    [failure('INVALID_PARAMETER', ''), 400, 3],
    [failure('URI_TOO_LONG', ''), 414, 3],
    [failure('NOT_FOUND', ''), 404, 5],
    [failure('RATE_LIMIT_EXCEEDED', ''), 429, 8],
    [failure('METHOD_NOT_ALLOWED', ''), 501, 12],
    [networkHalted(1, 'corrupt_store'), 503, 14],
    [failure('DEADLINE_EXCEEDED', ''), 504, 4],
  ] as const) {
    const refusal = refuse(failed)
    const body = JSON.parse(refusal.body) as Record<string, unknown>
    assert.deepEqual([refusal.status, body.code], [status, code], failed.code)
    // polygon-cli takes any body with a `code` for a failure, and reads its details as a list.
    assert.deepEqual([Object.keys(body), body.details], [['code', 'message', 'details'], []])
  }
})
