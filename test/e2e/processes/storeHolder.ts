import type { Config } from '../../../src/config/config.types.js'
import { lockFolder } from '../../../src/store/folder/folderLock.js'
import { prepareStores } from '../../../src/store/openStores.js'

/** Holds the stores of a folder as writer or reader until it is killed, and reports success or the refusal in one line. */
const [, , dataDir, role] = process.argv
try {
  if (role === 'read') lockFolder(dataDir!, 'read')
  else prepareStores({ dataDir, networks: [] } as unknown as Config)
  console.log('ready')
  setInterval(() => undefined, 60_000)
} catch (error) {
  console.log((error as Error).message)
}
