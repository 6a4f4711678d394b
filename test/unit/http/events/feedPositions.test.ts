import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePositions } from '../../../../src/http/events/feedPositions.js'

test('positions of several networks are read, up to the largest numbers', () => {
  assert.deepEqual(
    [...parsePositions('0.00000000feed:0,4294967295.ffffffffffff:999999999999999')!],
    [
      [0, { feedId: 0xfeed, sequence: 0 }],
      [4_294_967_295, { feedId: 0xffff_ffff_ffff, sequence: 999_999_999_999_999 }],
    ],
  )
})

test('a text that nobody was given is no position', () => {
  const place = '1.00000000feed:5'
  for (const text of [
    ...[
      '',
      ',',
      '1',
      '1.5',
      '1:5',
      '.00000000feed:5',
      '1.00000000feed:',
      '1.00000000feed',
      '1:00000000feed.5',
    ],
    ...['01.00000000feed:5', '1.00000000feed:05', '1.00000000FEED:5', '1.0000000feed:5', '1.000000000feed:5'],
    ...[
      '1.00000000feeg:5',
      ' 1.00000000feed:5',
      '1.00000000feed:5 ',
      '-1.00000000feed:5',
      '1.00000000feed:-5',
    ],
    ...['4294967296.00000000feed:5', '9999999999.00000000feed:5', '1.00000000feed:1000000000000000'],
    ...[
      `${place},`,
      `,${place}`,
      `${place},${place}`,
      `${place},,2.00000000feed:5`,
      `${place};2.00000000feed:5`,
    ],
  ])
    assert.equal(parsePositions(text), undefined, text)
})
