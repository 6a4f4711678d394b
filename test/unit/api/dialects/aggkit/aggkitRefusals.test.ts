import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseAny, refuseIndex, refuseProof } from '../../../../../src/api/dialects/aggkit/aggkitRefusals.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../../../src/protocol/units.js'
import { failure } from '../../../../../src/query/answers.js'
import {
  depositNotIndexed,
  leafIndexBeyondTip,
  leafIndexTooSmall,
  networkHalted,
  notCoveredYet,
  notFinalYet,
} from '../../../../../src/query/refusals.js'

const deposit = { networkId: asNetworkId(1), depositCount: asDepositCount(5) }
const proof = { ...deposit, leafIndex: asL1InfoTreeIndex(9) }
const NOT_INCLUDED = 'this bridge has not been included on the L1 Info Tree yet'

/** Status and text. */
function told({ status, body }: { readonly status: number; readonly body: string }): [number, string] {
  return [status, (JSON.parse(body) as { error: string }).error]
}

test('an index that is not there yet is a 404 from rc6 on, and a 500 that ends with the words clients look for before', () => {
  for (const failed of [notCoveredYet(1, 5, 3), depositNotIndexed(1, 5, 2), notFinalYet(1, 10, 9)]) {
    for (const release of ['latest', 'rc6'] as const)
      assert.deepEqual(told(refuseIndex(failed, deposit, release)), [
        404,
        `l1 info tree index for network id 1 and deposit count 5 is not available yet, retry later: ${NOT_INCLUDED}`,
      ])
    for (const release of ['rc5', '0.6'] as const)
      assert.deepEqual(told(refuseIndex(failed, deposit, release)), [
        500,
        `failed to get l1 info tree index for network id 1 and deposit count 5, error: ${NOT_INCLUDED}`,
      ])
  }
})

test('a proof that is not there yet says what is not indexed', () => {
  const leafTold = 'l1infotreesync has not indexed l1 info tree leaf index 9 yet, retry later'
  const countTold = 'bridgesync L2 has not indexed deposit count 5 yet, retry later'
  for (const failed of [leafIndexBeyondTip(9, 3), notFinalYet(9, 10, 9)]) {
    assert.deepEqual(told(refuseProof(failed, proof, 'latest')), [404, leafTold])
    assert.deepEqual(told(refuseProof(failed, proof, 'rc5')), [
      500,
      'failed to get l1 info tree leaf for index 9: not found',
    ])
  }
  for (const failed of [leafIndexTooSmall(9, 5, 2), depositNotIndexed(1, 5, 2)]) {
    assert.deepEqual(told(refuseProof(failed, proof, 'rc6')), [404, countTold])
    assert.deepEqual(told(refuseProof(failed, proof, '0.6')), [
      500,
      'failed to get local exit proof, error: not found',
    ])
  }
})

test('a halted network is a syncer that resolves a reorg: 503 from rc6 on, 500 before', () => {
  const halted = networkHalted(1, 'corrupt_store')
  for (const refuse of [
    (release: 'latest' | 'rc5') => refuseIndex(halted, deposit, release),
    (release: 'latest' | 'rc5') => refuseProof(halted, proof, release),
  ]) {
    const [status, text] = told(refuse('latest'))
    assert.equal(status, 503)
    assert.match(
      text,
      /^a syncer is temporarily inconsistent \(reorg being resolved\), retry later: Network 1/,
    )
    assert.equal(told(refuse('rc5'))[0], 500)
  }
})

test('other errors keep their status and have their text alone, with what HTML has a meaning for escaped', () => {
  assert.deepEqual(told(refuseAny(failure('RATE_LIMIT_EXCEEDED', 'too many'))), [429, 'too many'])
  assert.equal(
    refuseAny(failure('INVALID_PARAMETER', 'a<b>&"c"')).body,
    '{"error":"a\\u003cb\\u003e\\u0026\\"c\\""}',
  )
})
