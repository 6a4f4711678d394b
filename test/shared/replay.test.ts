import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startService } from '../support/serviceProcess.js'
import { sharedPath } from '../support/sharedFolder.js'
import { tempFolder } from '../support/tempFolder.js'

interface ReplayNetwork {
  readonly rpc: string
  readonly networkId: number
  readonly chainId: number
  readonly bridge: string
  readonly globalExitRootManager: string
  readonly rollupManager?: string
  readonly startBlock: number
}

interface Replay {
  readonly networks: Readonly<Record<string, ReplayNetwork>>
  close(): void
}

/** Serves a recorded set on free ports in this process. */
async function startReplay(t: TestContext, set: string): Promise<readonly ReplayNetwork[]> {
  const module = (await import(pathToFileURL(sharedPath('replay', 'replay-rpc.mjs')).href)) as {
    startReplay(options: { set: string }): Promise<Replay>
  }
  const replay = await module.startReplay({ set })
  t.after(() => replay.close())
  return Object.values(replay.networks)
}

function tomlOf(dataDir: string, networks: readonly ReplayNetwork[]): string {
  const tables = networks.map(
    (network) => `
[[networks]]
network_id = ${network.networkId}
chain_id = ${network.chainId}
rpc = ["${network.rpc}"]
bridge = "${network.bridge}"
global_exit_root_manager = "${network.globalExitRootManager}"
${network.rollupManager === undefined ? '' : `rollup_manager = "${network.rollupManager}"`}
start_block = ${network.startBlock}
finality = "latest"
`,
  )
  const head = `data_dir = "${dataDir}"\nprimary_network = 1\n[http]\nport = 0\n[ops]\nport = 0\n[pool]\nworkers = 1\n`
  return head + tables.join('')
}

/** Runs the checker as a process of its own and collects what it prints. */
function checkAnswers(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [sharedPath('replay', 'check-answers.mjs'), ...args])
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += String(data)
      })
    child.once('close', (code) => resolve({ code, output }))
  })
}

for (const name of ['base', 'v12-v9-legacy'])
  test(`every answer about the recorded chains of ${name} is right`, async (t) => {
    const set = sharedPath('replay', 'sets', name)
    const folder = tempFolder(t)
    const file = join(folder, 'bds.toml')
    writeFileSync(file, tomlOf(join(folder, 'data'), await startReplay(t, set)))
    const service = await startService(t, file)
    const { code, output } = await checkAnswers([
      '--service',
      service.url,
      '--set',
      set,
      '--wait',
      '60',
      '--strict',
    ])
    assert.equal(code, 0, `${output}\n${service.stderr.slice(-20).join('\n')}`)
    assert.match(output, /^[1-9]\d* passed, 0 failed$/m)
    assert.deepEqual(await service.kill('SIGINT'), { code: 0, signal: null })
  })
