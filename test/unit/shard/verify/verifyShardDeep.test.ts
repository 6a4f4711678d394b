import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketKey, directoryKey } from '../../../../src/store/layout/hashRun.js'
import { lineageStretchKey, metaKey, tileKey, trees, uint32Key } from '../../../../src/store/layout/keys.js'
import { senderAdditionKey, senderNotes, senderRowKey } from '../../../../src/store/layout/senderRow.js'
import { encodeUint32 } from '../../../../src/store/layout/smallRows.js'
import { hashKinds } from '../../../../src/store/layout/tables.js'
import { eventPlaceKey } from '../../../../src/store/places/eventPlace.js'
import { REPLACED_CLAIM } from '../../../../src/store/places/unsetClaimRow.js'
import type { ReadView } from '../../../../src/store/shardStore.types.js'
import { readCounters } from '../../../support/shardContents.js'
import { count, type Damage, findDamage, first, flip } from './damagedShard.js'

/** Key of the last bucket of exit roots. */
function lastExitRoots(view: ReadView): Uint8Array {
  const [start, end] = [
    bucketKey(hashKinds.localExitRoots, 0, 0),
    Uint8Array.of(hashKinds.localExitRoots + 1),
  ]
  return view.list('hashRuns', { start, end }).at(-1)!.key
}

/** An address of digits alone has no upper-case letter, so its EIP-55 mask is 0. */
const corrected = Buffer.from(`${'11'.repeat(20)}0000000000`.repeat(2), 'hex')

const deep: readonly Damage[] = [
  [
    'an inner node',
    0,
    /^tree nodes: local exit tree, lineage 0, group 0, tile 0, level 1, node 1: expected/,
    (view) => flip(view, 'treeTiles', tileKey(trees.localExitTree, 0, 0, 0), 32 * 65),
  ],
  [
    'an incomplete node',
    0,
    /^tree nodes: local exit tree, lineage 0, group 0, tile 1, level 0, node 20: expected 0x0{64}, found/,
    (view) => flip(view, 'treeTiles', tileKey(trees.localExitTree, 0, 0, 1), 32 * 20),
  ],
  [
    'a node of the L1 info tree',
    0,
    /^tree nodes: L1 info tree, lineage 0, group 1, tile 0, level 0, node 0: expected/,
    (view) => flip(view, 'treeTiles', tileKey(trees.l1InfoTree, 0, 1, 0), 0),
  ],
  [
    'a superfluous tile',
    1,
    /^tree nodes: local exit tree, lineage \d+, group 0, tile 9 is stored, but the tree has no such tile$/,
    (view) =>
      view.put(
        'treeTiles',
        tileKey(trees.localExitTree, readCounters(view).lineage, 0, 9),
        new Uint8Array(4032),
      ),
  ],
  [
    'an exit root of other leaves',
    0,
    /^exit roots: exit root of \d+ deposits in lineage 0: expected/,
    (view) => flip(view, 'hashRuns', lastExitRoots(view), 2),
  ],
  [
    'the hash of long metadata',
    1,
    /^dictionaries: digest of metadata \d+ is not that of its bytes$/,
    (view) => flip(view, 'longMetadata', first(view, 'longMetadata').key, 4),
  ],
  [
    'long metadata without its digest',
    1,
    /^dictionaries: digest of metadata \d+ is missing$/,
    (view) => view.remove('longMetadata', first(view, 'longMetadata').key),
  ],
  [
    'a digest without long metadata',
    1,
    /^dictionaries: long metadata: expected \d+, found \d+$/,
    (view) => view.put('longMetadata', uint32Key(9_999), new Uint8Array(36)),
  ],
  [
    'a missing sender',
    1,
    /^senders: sender of deposit 0 is missing, \d+ are counted$/,
    (view) => view.remove('depositSenders', uint32Key(0)),
  ],
  [
    'a missing claim link',
    1,
    /^claim links: claim of deposit \d+ of network \d: expected claim \d+, found none$/,
    (view) => view.remove('claimLinks', first(view, 'claimLinks').key),
  ],
  [
    'a transaction hash of a claim',
    1,
    /^hashes: claim 0 is not found by its transaction 0x[0-9a-f]{64}$/,
    (view) => flip(view, 'claimHashes', first(view, 'claimHashes').key, 2),
  ],
  [
    'missing transaction hashes of claims',
    1,
    /^claims: transaction hash of claim 0 is missing, \d+ are counted$/,
    (view) => view.remove('claimHashes', uint32Key(0)),
  ],
  [
    'a claim wrongly out of force',
    1,
    /^claims out of force: claims out of force: expected \d+, found \d+$|^claim links: claim of deposit/,
    (view) => view.put('claimsOutOfForce', uint32Key(readCounters(view).claims - 1), Uint8Array.of(0)),
  ],
  [
    'a token without its id',
    1,
    /^dictionaries: id of token 0x[0-9a-f]{40} of network \d is missing$/,
    (view) => view.remove('tokenIds', first(view, 'tokenIds').key),
  ],
  [
    'the EIP-55 mask of an address',
    1,
    /^dictionaries: token 0: the spelling of 0x[0-9a-f]{40} is not that of EIP-55$/,
    (view) => flip(view, 'tokens', uint32Key(0), 4 + 20),
  ],
  [
    'the state of an injection',
    1,
    /^injections: (removals of global exit roots: expected \d+, found \d+|state of global exit root)/,
    (view) => flip(view, 'gerStates', first(view, 'gerStates').key, 4),
  ],
  [
    'a leaf hash that finds nothing',
    1,
    /^hashes: deposit 0 is not found by its leaf 0x[0-9a-f]{64}$/,
    (view) => view.remove('hashRuns', directoryKey(hashKinds.depositsByLeafHash)),
  ],
  [
    'the place of a leaf in another block',
    0,
    /^places of events: block of the place of l1InfoLeaf 0: expected \d+, found \d+$/,
    (view) => flip(view, 'eventPlaces', eventPlaceKey('l1InfoLeaf', 0), 0),
  ],
  [
    'the place of a settlement that there was not',
    0,
    /^places of events: place of rollupExitVersion 77: the newest version is \d+$/,
    (view) => {
      const settlement = view.get('eventPlaces', eventPlaceKey('rollupExitVersion', 1))!
      view.put('eventPlaces', eventPlaceKey('rollupExitVersion', 77), new Uint8Array(settlement))
    },
  ],
  [
    'another root that was removed',
    1,
    /^removed roots: injection \d+, which removal 0 took back: expected 0x[0-9a-f]{64}, found 0x[0-9a-f]{64}$/,
    (view) => flip(view, 'gerRemovals', uint32Key(0), 0),
  ],
  [
    'a missing unset claim',
    1,
    /^unset claims: unset claim 0 is missing, \d+ are counted$/,
    (view) => view.remove('unsetClaims', uint32Key(0)),
  ],
  [
    'a claim that does not name what unset it',
    1,
    /^unset claims: why claim \d+ is out of force: expected unset \d+, found unset by none$/,
    (view) => {
      for (const { key } of view.list('claimsOutOfForce', {
        start: uint32Key(0),
        end: uint32Key(2 ** 32 - 1),
      }))
        view.put('claimsOutOfForce', key, REPLACED_CLAIM)
    },
  ],
  [
    'a missing token migration',
    1,
    /^token migrations: token migration 0 is missing, 1 are counted$/,
    count({ tokenMigrations: 1 }),
  ],
  [
    'a missing injection',
    1,
    /^injections: injection 0 is missing, \d+ are counted$/,
    (view) => view.remove('injectedGers', uint32Key(0)),
  ],
  [
    'a mapping that is no longer current',
    1,
    /^token mappings: token mapping \d+ /,
    (view) => flip(view, 'tokenMappings', uint32Key(readCounters(view).tokenMappings - 1), 107, 2),
  ],
  [
    'a missing archived deposit',
    1,
    /^archive: archived deposit 0 is missing, \d+ are counted$/,
    (view) => view.remove('archivedDeposits', uint32Key(0)),
  ],
  [
    'a range of regrown deposits that were not regrown',
    1,
    /^regrown deposits: regrown deposits of lineage 0: expected [\d, to]*, found [\d, to]*100 to 102$/,
    (view) => view.put('regrownStretches', lineageStretchKey(0, 100), encodeUint32(103)),
  ],
  [
    'a root settled inside a block that is the root of other leaves',
    1,
    /^exit roots: exit root of 1 deposits in lineage 0: expected 0x[0-9a-f]{64}, found 0x(ab){32}$/,
    (view) => {
      view.put('settledInsideBlocks', Buffer.alloc(32, 0xab), Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0))
      view.put('meta', metaKey('settledInsideBlocks'), encodeUint32(1))
    },
  ],
  [
    'a root settled inside a block that is not counted',
    1,
    /^exit roots: roots settled inside blocks: expected 0, found 1$/,
    (view) => view.put('settledInsideBlocks', Buffer.alloc(32, 0xab), Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0)),
  ],
  [
    'an ordinal of a list',
    1,
    /^lists: list \w+ of 0x[0-9a-f]* has /,
    (view) => flip(view, 'listHeads', first(view, 'listHeads').key, 4),
  ],
  [
    'a missing list',
    1,
    /^lists: rows in lists depositsBySender: expected \d+, found \d+$/,
    (view) => view.remove('listHeads', first(view, 'listHeads').key),
  ],
  [
    'a corrected sender in no list',
    1,
    /^corrected senders: corrected sender of deposit 0 is in neither its list nor the additions to it$/,
    (view) => view.put('senderCorrections', senderRowKey('deposit', 0), corrected),
  ],
  [
    'a corrected sender without a row',
    1,
    /^corrected senders: corrected sender of claim 4000000000 belongs to no row with a sender, only \d+ rows have one$/,
    (view) => view.put('senderCorrections', senderRowKey('claim', 4_000_000_000), corrected),
  ],
  [
    'an ordinal added without a correction',
    1,
    /^corrected senders: ordinals added to lists of senders: expected 0, found 1$/,
    (view) =>
      view.put('senderAdditions', senderAdditionKey('deposit', new Uint8Array(20), 0), Uint8Array.of(0)),
  ],
  [
    'a note that does not match its row',
    1,
    /^corrected senders: the note of deposit 0 does not agree with its sender$/,
    (view) => view.put('senderNotes', senderRowKey('deposit', 0), Uint8Array.of(senderNotes.unknown)),
  ],
  [
    'deposits under a mainnet exit root',
    0,
    /^mainnet coverage: deposits under the mainnet exit root of L1 info leaf 0: expected 1, found 0$/,
    (view) => flip(view, 'l1InfoLeaves', uint32Key(0), 172),
  ],
  [
    'a settled local exit root',
    0,
    /^rollup exit roots: rollup exit root 0x[0-9a-f]{64}, version \d: expected/,
    (view) => flip(view, 'settledLocalExitRoots', first(view, 'settledLocalExitRoots').key, 0),
  ],
  [
    'a missing settlement',
    0,
    /^rollup exit roots: settlement of version 3 is missing$/,
    (view) => view.remove('settledLocalExitRoots', Buffer.from('0000000100000003', 'hex')),
  ],
]

for (const [what, networkId, found, damage] of deep)
  test(`deep verification names the first damage: ${what}`, async (context) => {
    const all = await findDamage(context, networkId, damage, true)
    assert.ok(
      all.some((text) => found.test(text)),
      all.join('\n'),
    )
  })
