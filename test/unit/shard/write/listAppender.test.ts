import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { AddressBook } from '../../../../src/shard/write/addressBook.js'
import { ListAppender, readWholeList } from '../../../../src/shard/write/listAppender.js'
import { listHeadKey } from '../../../../src/store/layout/keys.js'
import { listKinds } from '../../../../src/store/layout/tables.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import { tempFolder } from '../../../support/tempFolder.js'

test('addresses with the same prefix have separate lists, over several flushes', async (context) => {
  const store = openShardStoreWriter(tempFolder(context))
  const addresses = ['00000000aa', '00000000bb', '00000000cc', 'ffffffffaa', 'ffffffffbb', '0123456700'].map(
    (begin) => Buffer.from(begin.padEnd(40, '7'), 'hex'),
  )
  const kind = listKinds.depositsByDestinationAddress
  const book = new AddressBook((bytes) => keccak_256(bytes))
  const expected = addresses.map(() => [] as number[])
  for (let flush = 0, ordinal = 0; flush < 3; flush++)
    store.transact((view) => {
      const lists = new ListAppender(view, book)
      for (let added = 0; added < 700; added++, ordinal++) {
        const which = (Math.imul(ordinal, 0x9e3779b1) >>> 20) % addresses.length
        lists.appendByAddress(kind, book.numberOf(addresses[which]!), ordinal)
        expected[which]!.push(ordinal)
      }
      lists.flush()
    })
  assert.ok(expected.every(({ length }) => length > 100))
  addresses.forEach((address, which) => {
    assert.deepEqual(readWholeList(store, listHeadKey(kind, address)), expected[which], `address ${which}`)
  })
  await store.close()
})
