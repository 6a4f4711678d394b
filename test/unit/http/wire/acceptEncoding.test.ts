import assert from 'node:assert/strict'
import test from 'node:test'
import { chooseCoding } from '../../../../src/http/wire/acceptEncoding.js'
import { namesTag } from '../../../../src/http/wire/headers.js'

for (const [header, coding] of [
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.9', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.000, *', 'br'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['*;q=0.5, br;q=0', 'gzip'],
  ['identity', 'identity'],
  ['identity, gzip;q=0.5', 'identity'],
  ['identity;q=0.5, gzip', 'gzip'],
  ['deflate, zstd', 'identity'],
  ['gzip;q=2', 'identity'],
  ['gzip;q=high', 'identity'],
  ['gzip ; q=0.3 ,br ;q=0.2', 'gzip'],
  [',;,=', 'identity'],
] as const)
  test(`Accept-Encoding ${JSON.stringify(header)} is answered with ${coding}`, () => {
    // The second look comes from memory.
    assert.deepEqual([chooseCoding(header), chooseCoding(header)], [coding, coding])
  })

for (const [header, isNamed] of [
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", "abc"', true],
  ['"x" , W/"abc"', true],
  ['*', true],
  ['"abcd"', false],
  ['abc', false],
  ['"abc-gzip"', false],
  ['', false],
] as const)
  test(`If-None-Match ${JSON.stringify(header)} ${isNamed ? 'names' : 'does not name'} the tag "abc"`, () => {
    assert.equal(namesTag(header, '"abc"'), isNamed)
  })
