import type { Config } from '../../src/config/config.types.js'
import { prepareStores } from '../../src/store/openStores.js'

/** Holds the stores of a folder open until it is killed. */
const config = { dataDir: process.argv[2], networks: [] } as unknown as Config
prepareStores(config)
if (process.send === undefined) {
  // No channel leads to the test: the lock itself tells that the stores are held.
  setInterval(() => undefined, 60_000)
} else {
  process.send('ready')
  process.on('message', () => undefined)
}
