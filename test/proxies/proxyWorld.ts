import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EventClient, SocketClient } from '../support/eventClient.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { freePort } from '../support/freePort.js'
import { installedProgram } from '../support/installedProgram.js'
import { type ServiceProcess, startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { type Cleaner, tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'
import { type LoadReport, type LoadTarget, startLoad } from './steadyLoad.js'

/** Two complete instances over the same chains, each with its own data folder and ports. */
export interface TwoInstances {
  readonly ports: readonly { readonly api: number; readonly ops: number }[]
  /** The answer of every instance while the chains do not change. */
  readonly targets: readonly LoadTarget[]
  /**
   * Stops one instance with SIGTERM, restarts it on the same ports and waits until it is ready.
   * @returns its exit code.
   */
  restart(at: number): Promise<number | null>
}

/** Longer than the proxies of `deploy/` need to notice, and shorter than the default of 5 s. */
const DRAIN = ['--http-drain-delay-ms', '3500', '--log-level', 'error']

/** @param perInstance lines of the configuration besides: of the cluster that the instances are of. */
export async function startTwoInstances(
  context: Cleaner,
  perInstance: (at: number) => string = () => '',
): Promise<TwoInstances> {
  const { world, configFile } = await serveWorld(context, buildSmallWorld().world)
  const ports = [
    { api: await freePort(), ops: await freePort() },
    { api: await freePort(), ops: await freePort() },
  ]
  const start = (at: number): Promise<ServiceProcess> => {
    const { api, ops } = ports[at]!
    const args = ['--http-port', String(api), '--ops-port', String(ops)]
    const file = configFile(`instance${at}`)
    writeFileSync(file, readFileSync(file, 'utf8').replace('[log]', `${perInstance(at)}\n[log]`))
    return startService(context, file, [...DRAIN, ...args])
  }
  const instances = await Promise.all([start(0), start(1)])
  for (const instance of instances) await inStep(instance, world)
  const paths = [
    '/bridge/v1/bridges?network_id=1&page_size=5',
    '/bridge/v1/claims?network_id=1',
    '/bridge/v1/token-mappings?network_id=1',
    '/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=0',
    '/livez',
  ]
  const targets: LoadTarget[] = []
  for (const path of paths) {
    const bodies = await Promise.all(instances.map(async ({ url }) => (await fetch(url + path)).text()))
    if (bodies[0] !== bodies[1]) throw new Error(`the instances differ on ${path}: ${bodies.join(' / ')}`)
    targets.push({ path, body: bodies[0]! })
  }
  return {
    ports,
    targets,
    async restart(at) {
      const { code } = await instances[at]!.kill('SIGTERM')
      const again = await start(at)
      instances[at] = again
      await until(
        () => fetch(`${again.opsUrl}/readyz`).then(({ status }) => status),
        (status) => status === 200,
        'the restarted instance is ready',
      )
      return code
    },
  }
}

/**
 * A file of `deploy/` with the test's ports in place of its own: the proxy's, and those of the instances' APIs.
 * @param spelling how the file writes an address of this machine.
 */
export function deployed(
  file: string,
  proxyPort: number,
  [first, second]: TwoInstances['ports'],
  spelling = (port: number): string => `127.0.0.1:${port}`,
): string {
  const ports = [
    [8080, proxyPort],
    [5577, first!.api],
    [5578, second!.api],
  ] as const
  const path = fileURLToPath(new URL(`../../../deploy/${file}`, import.meta.url))
  let text = readFileSync(path, 'utf8')
  for (const [shipped, own] of ports) {
    if (!text.includes(spelling(shipped))) throw new Error(`${file} has no ${spelling(shipped)}`)
    text = text.replaceAll(spelling(shipped), spelling(own))
  }
  return text
}

/** Runs a proxy in the foreground until the test ends. Resolves when it accepts connections. */
export async function runProxy(
  context: Cleaner,
  program: string,
  args: readonly string[],
  port: number,
): Promise<void> {
  const child = spawn(installedProgram(program)!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  context.after(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const isUp = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`)
      return isUp()
    },
    (answer) => answer,
    `${program} answers`,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${said}`)
  })
}

/** Runs HAProxy with a configuration until the test ends. Resolves when it accepts connections. */
export async function runHaproxy(context: Cleaner, port: number, config: string): Promise<void> {
  const file = join(tempFolder(context), 'haproxy.cfg')
  writeFileSync(file, config)
  await runProxy(context, 'haproxy', ['-db', '-f', file], port)
}

/** Events come through the proxy as they are sent, over both protocols, also after two times 15 seconds in which nothing happens. */
export async function assertEventsPass(context: Cleaner, port: number): Promise<void> {
  const clients = [await EventClient.open(port), await SocketClient.open(port)]
  context.after(() => {
    for (const client of clients) client.close()
  })
  for (const client of clients)
    await until(
      () => client.lastEventId,
      (position) => /^0\.[0-9a-f]{12}:\d/.test(position),
      'a position',
    )
  for (const client of clients) {
    await until(
      () => client.signs,
      (signs) => signs > 2 || client.isEnded,
      'signs of life',
      60_000,
    )
    assert.equal(client.isEnded, false)
  }
}

/** Restarts both instances one after the other under load through the proxy: no request may fail. */
export async function assertRollsUnderLoad(port: number, instances: TwoInstances): Promise<void> {
  const { answered, failures } = await rollUnderLoad(port, instances)
  assert.deepEqual(failures.slice(0, 5), [])
  assert.ok(answered > 1_000, `${answered} answers`)
}

async function rollUnderLoad(port: number, instances: TwoInstances): Promise<LoadReport> {
  const load = startLoad(port, 24, instances.targets)
  try {
    for (const at of [0, 1]) {
      const code = await instances.restart(at)
      if (code !== 0) throw new Error(`instance ${at} ended with ${code}`)
      const before = load.answered()
      await until(load.answered, (count) => count > before + 500, 'the load goes on')
    }
  } finally {
    await load.stop()
  }
  return load.stop()
}
