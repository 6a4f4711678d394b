import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { equalBytes } from './layout/bytes.js'
import { openShardStoreWriter } from './shardStore.js'

const KEY = Uint8Array.of(1)
const VALUE = new Uint8Array(4096).fill(7)

/**
 * Makes a store of its own inside a folder, writes, opens it anew, reads, and removes it: the addon loads, and this very disk
 * takes memory-mapped files and locks.
 * @throws what LMDB or the system says; Error when another value comes back.
 */
export async function testStoreIn(folder: string): Promise<void> {
  const own = mkdtempSync(join(folder, 'self-test-'))
  try {
    const first = openShardStoreWriter(join(own, 'store'))
    first.transact((view) => view.put('meta', KEY, VALUE))
    await first.close()
    const second = openShardStoreWriter(join(own, 'store'))
    const found = second.get('meta', KEY)
    const isSame = found !== undefined && equalBytes(found, VALUE)
    await second.close()
    if (!isSame) throw new Error('a value that was written does not come back')
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}
