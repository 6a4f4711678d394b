import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startBds } from './serviceProcess.js'

export interface Refusal {
  readonly what: string
  readonly dataDir: string
  readonly launcher?: readonly string[]
  readonly code?: number
  readonly told: RegExp
}

/** Every command that writes ends with this code and one line, before it listens or opens anything. */
export async function assertRefused(context: TestContext, file: string, refusal: Refusal): Promise<void> {
  const { what, dataDir, launcher = [], code = 4, told } = refusal
  for (const args of [['run'], ['rewind', '--network', '1', '--to-block', '1']]) {
    const environment = { BDS_DATA_DIR: dataDir }
    const bds = startBds(context, [...args, '--config', file], environment, launcher)
    const exit = await bds.exited
    const text = [...bds.stdout, ...bds.stderr].join('\n')
    // `rewind` says that there is nothing to rewind before it looks at the folder itself.
    if (args[0] === 'rewind' && /^bds: network 1 has no data in /.test(text)) continue
    assert.deepEqual(exit, { code, signal: null }, `${what}: ${text}`)
    const lines = text.split('\n')
    assert.equal(lines.length, code === 3 ? 2 : 1, `${what}: ${text}`)
    assert.match(lines.at(-1)!, told, what)
  }
}
