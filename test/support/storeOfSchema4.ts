import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { shardDirectory } from '../../src/store/shardDirectory.js'

/** Unpacks the stores that a build of schema 4 made from `buildWorldOfSchema4` into a data folder. */
export function unpackStoresOfSchema4(dataDir: string, networkIds: readonly number[]): void {
  for (const networkId of networkIds) {
    const directory = shardDirectory(dataDir, networkId)
    mkdirSync(directory, { recursive: true })
    const packed = readFileSync(join('test', 'fixtures', 'schema4', `${networkId}.mdb.gz`))
    writeFileSync(join(directory, 'data.mdb'), gunzipSync(packed))
  }
}
