import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startAnvils } from '../../src/devnet/anvil.js'
import { tempFolder } from '../support/tempFolder.js'
import type { AnvilHolderReport } from './processes/anvilHolder.js'

function folderPrefix(t: TestContext): string {
  return join(tempFolder(t), 'nodes-')
}

async function accepts({ rpcUrl }: { readonly rpcUrl: string }): Promise<boolean> {
  const socket = connect(Number(new URL(rpcUrl).port), '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function startHolder(prefix: string) {
  const holder = fork(fileURLToPath(new URL('./processes/anvilHolder.js', import.meta.url)), [prefix], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const [report] = (await once(holder, 'message')) as [AnvilHolderReport]
  return { holder, report }
}

test('stopping kills the nodes and removes their folder', async (t) => {
  const group = await startAnvils([{ chainId: 1 }, { chainId: 2 }], folderPrefix(t))
  t.after(() => group.stop())
  assert.equal(existsSync(group.folder), true)
  assert.deepEqual(await Promise.all(group.anvils.map(accepts)), [true, true])
  await group.stop()
  assert.deepEqual(await Promise.all(group.anvils.map(accepts)), [false, false])
  assert.equal(existsSync(group.folder), false)
})

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`when the parent dies of ${signal} no node and no folder is left`, async (t) => {
    const { holder, report } = await startHolder(folderPrefix(t))
    assert.deepEqual(await Promise.all(report.anvils.map(accepts)), [true, true])
    holder.kill(signal)
    // The guard shares the holder's stderr: the pipe closes when both are gone.
    await once(holder, 'close')
    assert.deepEqual(await Promise.all(report.anvils.map(accepts)), [false, false])
    assert.equal(existsSync(report.folder), false)
  })

test('a node or a guard that dies is reported, and the other nodes are still removed on stop', async (t) => {
  const group = await startAnvils([{ chainId: 31 }, { chainId: 32 }], folderPrefix(t))
  t.after(() => group.stop())
  process.kill(group.anvils[1]!.pid, 'SIGKILL')
  assert.match(await group.failed, /^anvil of chain 32 ended: SIGKILL/)

  const unguarded = await startAnvils([{ chainId: 33 }], folderPrefix(t))
  t.after(() => unguarded.stop())
  const socket = connect(Number(new URL(unguarded.anvils[0]!.rpcUrl).port), '127.0.0.1')
  await once(socket, 'connect')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  process.kill(unguarded.guardPid, 'SIGKILL')
  assert.match(await unguarded.failed, /guards the devnet's chains ended/)
  // The node's own end of an idle connection closes only when the node ends.
  await closed
})

test("a node that does not start is an error with the node's output, and nothing is left of it", async (t) => {
  const folder = tempFolder(t)
  await assert.rejects(startAnvils([{ chainId: 1 }, { chainId: -5 }], join(folder, 'nodes-')), {
    name: 'DevnetError',
    message: /cannot start the devnet's chains: anvil of chain -5 ended: exit code 2: .*'-5'/,
  })
  assert.deepEqual(readdirSync(folder), [])
})
