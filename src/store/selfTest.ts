import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { equalBytes } from '../protocol/abiBytes.js'
import { openShardStoreWriter } from './shardStore.js'

const KEY = Uint8Array.of(1)
const VALUE = new Uint8Array(4096).fill(7)

/**
 * Makes a small store inside a folder, writes a value, opens the store again, reads the value, and removes the store. This shows
 * that the native addon loads, and that the disk supports memory-mapped files and locks.
 * @throws the error of LMDB or of the system; Error when the value read is not the value written.
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
    if (!isSame) throw new Error('a value that was written could not be read back')
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}
