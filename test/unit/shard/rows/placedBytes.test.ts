import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOWHERE } from '../../../../src/shard/rows/chunkSlots.js'
import { PlacedBytes } from '../../../../src/shard/rows/placedBytes.js'
import { RowArena } from '../../../../src/shard/rows/rowArena.js'
import { compileMerkleModule, createRowWriter } from '../../../../src/wasm/wasmModule.js'

const counts = { deposits: 1, senders: 1, claims: 1, hashes: 1, links: 1 }

/** Ids from 0 up to more than there are slots. */
const ENTRIES = 50_000

/** As many bytes as the id modulo 7, each of them the id modulo 251. */
const entryOf = (id: number) => new Uint8Array(id % 7).fill(id % 251)

function newPlaced() {
  const arena = new RowArena(createRowWriter(compileMerkleModule()), counts)
  const placed = new PlacedBytes(arena)
  placed.begin(1)
  const find = (id: number): Uint8Array | undefined => {
    const place = placed.find(id)
    return place === NOWHERE ? undefined : arena.input.slice(place, place + placed.lengthOf(id))
  }
  return { arena, placed, find }
}

test('a placed entry is found with its own bytes, or not at all, when more entries than slots were placed', () => {
  const { placed, find } = newPlaced()
  for (let id = 0; id < ENTRIES; id++) {
    placed.place(id, entryOf(id))
    assert.deepEqual(find(id), entryOf(id))
  }
  const found = Array.from({ length: ENTRIES }, (_, id) => id).filter((id) => find(id) !== undefined)
  assert.ok(found.length > 1000 && found.length < ENTRIES, `${found.length} are found`)
  for (const id of found) assert.deepEqual(find(id), entryOf(id), `entry ${id}`)
})

test('a reorg and a dropped arena void placed entries, a new page does not', () => {
  const { arena, placed, find } = newPlaced()
  placed.place(5, entryOf(5))
  placed.begin(1)
  assert.deepEqual(find(5), entryOf(5))
  placed.begin(2)
  assert.equal(find(5), undefined)
  placed.place(5, entryOf(12))
  assert.deepEqual(find(5), entryOf(12))
  assert.ok(arena.makeRoom(arena.input.length, 0))
  assert.equal(find(5), undefined)
})
