import { uint32Key } from '../../../src/store/layout/keys.js'
import { decodeUint32, encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'

/** Writes one number into 20 rows per transaction, increases it each time, and reports each commit to its parent. */
const writer = openShardStoreWriter(process.argv[2]!)
const stored = writer.get('claims', uint32Key(0))
let round = stored === undefined ? 0 : decodeUint32(stored)
const next = (): void => {
  round++
  writer.transact((view) => {
    for (let row = 0; row < 20; row++) view.put('claims', uint32Key(row), encodeUint32(round))
  })
  process.send!(round, undefined, {}, next)
}
next()
