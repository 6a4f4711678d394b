import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visibleJson } from '../../../src/telemetry/visibleText.js'

test('JSON of another machine means the same when it is shown, and a terminal obeys nothing in it', () => {
  const given = '{\r\n\t"networks": [],\r"text":"\u202e\u009b2J\ud800\u2028"\r}'
  const shown = visibleJson(given)
  assert.deepEqual(JSON.parse(shown), JSON.parse(given))
  assert.doesNotMatch(shown.replaceAll(/[\n\t]/g, ''), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}]/u)
})
