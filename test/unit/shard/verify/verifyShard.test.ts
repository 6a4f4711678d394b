import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEPOSIT_BYTES } from '../../../../src/store/layout/depositRow.js'
import { directoryKey } from '../../../../src/store/layout/hashRun.js'
import { blockKey, chunkKey, tileKey, trees, uint32Key } from '../../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../../src/store/layout/smallRows.js'
import { DEPOSITS_PER_CHUNK, hashKinds } from '../../../../src/store/layout/tables.js'
import { count, type Damage, findDamage, first, flip } from './damagedShard.js'

const quick: readonly Damage[] = [
  [
    'an amount',
    1,
    /^deposits: leaf of deposit 0: expected 0x[0-9a-f]{64}, found 0x[0-9a-f]{64}$/,
    (view) => flip(view, 'deposits', chunkKey(0, DEPOSITS_PER_CHUNK), 87 + 31),
  ],
  [
    'metadata',
    1,
    /^deposits: leaf of deposit \d+: expected/,
    (view) => flip(view, 'metadata', uint32Key(1), 5),
  ],
  [
    'a leaf of the tree',
    0,
    /^deposits: leaf of deposit 3: expected/,
    (view) => flip(view, 'treeTiles', tileKey(trees.localExitTree, 0, 0, 0), 32 * 3),
  ],
  [
    'a lost chunk of deposits',
    0,
    /^deposits: deposit 34 is missing, 72 are counted$/,
    (view) => view.remove('deposits', chunkKey(34, DEPOSITS_PER_CHUNK)),
  ],
  [
    'half a chunk of deposits',
    0,
    /^deposits: deposit 10 is missing, 72 are counted$/,
    (view) =>
      view.put(
        'deposits',
        chunkKey(0, DEPOSITS_PER_CHUNK),
        view.get('deposits', chunkKey(0, DEPOSITS_PER_CHUNK))!.slice(0, 10 * DEPOSIT_BYTES),
      ),
  ],
  [
    'a counter with one deposit too few',
    0,
    /^deposits: deposit 71 is stored, only 71 are counted$/,
    count({ deposits: 71 }),
  ],
  [
    'a deposit out of order',
    0,
    /^deposits: deposit 5 is of block 3, log 0, but the one before it is of block 6, log 0$/,
    (view) => {
      const key = chunkKey(0, DEPOSITS_PER_CHUNK)
      const value = new Uint8Array(view.get('deposits', key)!)
      value[5 * DEPOSIT_BYTES + 32] = 3
      view.put('deposits', key, value)
    },
  ],
  [
    'a missing token',
    1,
    /^deposits: network 1: entry 0 of table tokens is missing$/,
    (view) => view.remove('tokens', uint32Key(0)),
  ],
  [
    'a lost tile',
    0,
    /^deposits: tree tile is missing: lineage 0, group 0, index 1$/,
    (view) => view.remove('treeTiles', tileKey(trees.localExitTree, 0, 0, 1)),
  ],
  [
    'a node on the right edge',
    0,
    /^newest exit root: mainnet exit root of 72 deposits: expected/,
    (view) => flip(view, 'treeTiles', tileKey(trees.localExitTree, 0, 1, 0), 0),
  ],
  [
    'missing roots of an L2',
    1,
    /^newest exit root: local exit root 0x[0-9a-f]{64} of \d+ deposits is missing$/,
    (view) => {
      view.remove('hashRuns', directoryKey(hashKinds.localExitRoots))
    },
  ],
  [
    'a global index',
    1,
    /^claims: claim 0 is of deposit \d of network \d, but its global index \d+ names another$/,
    (view) => flip(view, 'claims', uint32Key(0), 16 + 30),
  ],
  [
    'a time of an L1 info leaf',
    0,
    /^L1 info leaves: hash of L1 info leaf 0: expected/,
    (view) => flip(view, 'l1InfoLeaves', uint32Key(0), 160),
  ],
  [
    'a rollup exit root',
    0,
    /^L1 info leaves: global exit root of L1 info leaf 0: expected/,
    (view) => flip(view, 'l1InfoLeaves', uint32Key(0), 32),
  ],
  [
    'a wrong index of a global exit root',
    0,
    /^L1 info leaves: index of the global exit root of L1 info leaf \d+: expected \d+, found 99$/,
    (view) => view.put('l1InfoIndexByGer', first(view, 'l1InfoIndexByGer').key, encodeUint32(99)),
  ],
  [
    'the header of the checkpoint',
    1,
    /^chain position: header of the checkpoint, block 40 is missing$/,
    (view) => view.remove('headers', blockKey(40)),
  ],
  [
    'the parent that a header names',
    1,
    /^chain position: block 39 names parent 0x[0-9a-f]{64}, but block 38 is 0x[0-9a-f]{64}$/,
    (view) => flip(view, 'headers', blockKey(39), 32),
  ],
]

for (const [what, networkId, found, damage] of quick)
  test(`quick verification names the first damage: ${what}`, async (context) => {
    const [firstFound] = await findDamage(context, networkId, damage, false)
    assert.match(firstFound ?? 'nothing', found)
  })

test('a far-history header without a parent hash is no damage', async (context) => {
  const damage = await findDamage(
    context,
    1,
    (view) => {
      const header = new Uint8Array(view.get('headers', blockKey(39))!)
      view.put('headers', blockKey(39), header.fill(0, 32, 64))
    },
    false,
  )
  assert.deepEqual(damage, [])
})
