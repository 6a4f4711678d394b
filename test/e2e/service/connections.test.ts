import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { buildLoneWorld } from '../../support/fakeChainScenario.js'
import { RawConnection, requestText } from '../../support/rawHttp.js'
import { type ServiceProcess, startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { until } from '../../support/until.js'

const ON_LINUX = { skip: process.platform !== 'linux' && 'there is no /proc' }

const LIST = '/bridge/v1/bridges?network_id=0'
/** Enough to start with one network, front thread and query thread; 268 of them are kept back. */
const FILES = 740
const WITH_FEW_FILES = ['sh', '-c', `ulimit -n ${FILES}; exec "$@"`, 'sh']

const portOf = ({ url }: ServiceProcess): number => Number(new URL(url).port)

async function metricOf({ opsUrl }: ServiceProcess, series: string): Promise<number> {
  const lines = (await (await fetch(`${opsUrl}/metrics`)).text()).split('\n')
  return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0)
}

function warnings({ stderr }: ServiceProcess): string[] {
  return stderr.filter((line) => line.includes('connections are refused'))
}

async function open(service: ServiceProcess): Promise<Socket> {
  const socket = connect({ port: portOf(service), host: '127.0.0.1' })
  socket.resume()
  // The kernel refuses it while the port is closed.
  await once(socket, 'connect').catch(() => undefined)
  socket.on('error', () => undefined)
  return socket
}

for (const transport of ['auto', 'node'])
  test(
    `http.transport ${transport}: more clients than descriptors leave operations answering and the CPU at rest, are told once, and when they have gone others are served`,
    ON_LINUX,
    async (t) => {
      const { world, configFile } = await serveWorld(t, buildLoneWorld())
      const args = ['--http-transport', transport]
      const service = await startService(t, configFile('data'), args, {}, WITH_FEW_FILES)
      await inStep(service, world)
      const clients: Socket[] = []
      t.after(() => clients.map((client) => client.destroy()))
      const flood = async (count: number): Promise<void> => {
        clients.push(...(await Promise.all(Array.from({ length: count }, () => open(service)))))
      }
      await flood(450)
      await flood(450)
      await until(async () => warnings(service).length, Boolean, 'a warning')
      // Idle connections are closed after ten seconds: others come in their place, and none of them sends anything.
      const spent = await metricOf(service, 'process_cpu_seconds_total')
      const since = performance.now()
      for (let round = 0; round < 5; round++) {
        const held = clients.filter(({ closed }) => !closed)
        assert.equal((await fetch(`${service.opsUrl}/livez`)).status, 200)
        // Not once the clients have gone.
        assert.ok(held.some(({ closed }) => !closed))
        await flood(100)
      }
      await until(
        async () => performance.now() - since,
        (ms) => ms > 3_000,
        'three seconds',
      )
      const share =
        ((await metricOf(service, 'process_cpu_seconds_total')) - spent) /
        ((performance.now() - since) / 1000)
      assert.ok(share < 0.6, `${share} of a core`)
      const connections = await metricOf(service, 'bds_http_connections')
      assert.ok(connections > 300 && connections < FILES, String(connections))
      assert.ok((await metricOf(service, 'bds_http_connections_refused_total{reason="max_connections"}')) > 0)
      for (const client of clients) client.destroy()
      await until(() => service.read(LIST).then(Boolean, () => false), Boolean, 'new clients are served')
      const told = warnings(service).map(
        (line) => JSON.parse(line) as { msg: string; max_connections: number },
      )
      assert.deepEqual(
        told
          .filter(({ msg }) => msg.includes('max_connections is'))
          .map(({ max_connections }) => max_connections),
        [FILES - 268],
      )
      assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
    },
  )

test(
  'an address that holds most connections loses them with its answers, and another address keeps its own',
  ON_LINUX,
  async (t) => {
    const { world, configFile } = await serveWorld(t, buildLoneWorld())
    const service = await startService(t, configFile('data'), ['--http-max-connections', '200'])
    await inStep(service, world)
    const other = connect({ port: portOf(service), host: '127.0.0.1', localAddress: '127.0.0.2' })
    t.after(() => other.destroy())
    const busy = Array.from({ length: 140 }, () => new RawConnection(portOf(service)))
    t.after(() => busy.map((connection) => connection.destroy()))
    const ask = async (connection: RawConnection) =>
      (await connection.send(requestText('GET', LIST)).response()).headers.get('connection')
    const ended = await until(
      () => ask(busy.pop()!),
      (connection) => connection === 'close',
      'an answer that ends its connection',
    )
    assert.equal(ended, 'close')
    for (let at = 0; at < 3; at++) {
      other.write(requestText('GET', LIST))
      const [answer] = (await once(other, 'data')) as [Buffer]
      assert.match(String(answer), /^HTTP\/1\.1 200 /)
      assert.doesNotMatch(String(answer), /connection: close/i)
    }
  },
)
