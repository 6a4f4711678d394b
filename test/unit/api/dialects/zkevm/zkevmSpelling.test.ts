import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chosenProofPresenter,
  namedProofPresenter,
} from '../../../../../src/api/dialects/zkevm/zkevmSpelling.js'
import { claimProofRecord } from '../../../../support/sampleRecords.js'

test('a final proof under a named root holds for ever, one under a leaf that we chose until the next commit', () => {
  const final = claimProofRecord({ isFinal: true })
  // A smaller leaf may be injected, or this one removed.
  assert.equal(chosenProofPresenter.life(final), 'commit')
  assert.equal(namedProofPresenter.life(final), 'epoch')
  assert.equal(namedProofPresenter.life(claimProofRecord({ isFinal: false })), 'commit')
})
