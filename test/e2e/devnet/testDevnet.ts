import { type Devnet, startDevnet } from '../../../src/devnet/devnet.js'
import type { Cleaner } from '../../support/tempFolder.js'

/** Three fresh chains with contracts for one test, stopped when the test ends. */
export async function testDevnet(context: Cleaner): Promise<Devnet> {
  const devnet = await startDevnet()
  context.after(() => devnet.stop())
  return devnet
}
