import { type Devnet, startDevnet } from '../../src/devnet/devnet.js'

interface Cleaner {
  after(body: () => Promise<void>): void
}

/** Three fresh chains with contracts for one test, stopped when the test ends. */
export async function testDevnet(context: Cleaner): Promise<Devnet> {
  const devnet = await startDevnet()
  context.after(() => devnet.stop())
  return devnet
}
