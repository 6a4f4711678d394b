import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { NatsProcesses } from '../e2e/cluster/natsProcesses.js'
import { freePort } from '../support/freePort.js'
import { skipWithout } from '../support/installedProgram.js'
import { until } from '../support/until.js'
import {
  assertEventsPass,
  assertRollsUnderLoad,
  deployed,
  runHaproxy,
  startTwoInstances,
} from './proxyWorld.js'

const rules = { skip: skipWithout('haproxy'), timeout: 200_000 }

test(
  'HAProxy with deploy/haproxy.cfg: events pass, and a rolling restart under load fails no request',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    await runHaproxy(context, port, deployed('haproxy.cfg', port, instances.ports))
    await assertEventsPass(context, port)
    await assertRollsUnderLoad(port, instances)
  },
)

test('a rolling restart of the instances of a cluster behind HAProxy under load fails no request, and tags and cursors of one hold at the other', {
  ...rules,
  skip: skipWithout('haproxy', 'nats-server'),
}, async (context) => {
  const nats = await NatsProcesses.start(context, 1)
  const instances = await startTwoInstances(
    context,
    (at) => `[cluster]
servers = ["${nats.addresses[0]}"]
replicas = 1
max_log_bytes = 100000000
instance = "i${at}"
`,
  )
  const [one, other] = instances.ports.map(({ api }) => `http://127.0.0.1:${api}/bridge/v1/bridges`)
  const page = '?network_id=1&page_size=2'
  const first = await fetch(one + page)
  const { pagination } = (await first.json()) as { pagination: { next_cursor: string } }
  const headers = { 'if-none-match': first.headers.get('etag')! }
  assert.equal((await fetch(other + page, { headers })).status, 304)
  const next = `${page}&cursor=${encodeURIComponent(pagination.next_cursor)}`
  const [here, there] = await Promise.all([one, other].map((url) => fetch(url + next)))
  assert.deepEqual([here!.status, there!.status], [200, 200])
  assert.equal(await there!.text(), await here!.text())
  const port = await freePort()
  await runHaproxy(context, port, deployed('haproxy.cfg', port, instances.ports))
  await assertRollsUnderLoad(port, instances)
})

test(
  'behind HAProxy with deploy/haproxy.cfg the service sees the address of the client',
  rules,
  async (context) => {
    const told: string[] = []
    const service = createServer((request, response) => {
      if (request.url === '/who') told.push(String(request.headers['x-forwarded-for']))
      response.end()
    }).listen(0, '127.0.0.1')
    context.after(() => service.close())
    await once(service, 'listening')
    const { port: api } = service.address() as AddressInfo
    const port = await freePort()
    await runHaproxy(
      context,
      port,
      deployed('haproxy.cfg', port, [
        { api, ops: 0 },
        { api, ops: 0 },
      ]),
    )
    await fetch(`http://127.0.0.1:${port}/who`)
    assert.deepEqual(told, ['127.0.0.1'])
  },
)

test(
  'HAProxy with its default check, OPTIONS in HTTP/1.0 on the operations port, fails no request during a rolling restart',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    await runHaproxy(context, port, defaultCheck(port, instances.ports))
    await assertRollsUnderLoad(port, instances)
  },
)

test(
  'HAProxy with its default check on the operations port notices an instance that drains',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    await runHaproxy(
      context,
      port,
      defaultCheck(port, instances.ports, '    stats enable\n    stats uri /haproxy-stats\n'),
    )
    const states = async (): Promise<string> => {
      const table = await (await fetch(`http://127.0.0.1:${port}/haproxy-stats;csv`)).text()
      const rows = table.split('\n').map((line) => line.split(','))
      const column = rows[0]!.indexOf('status')
      return rows
        .filter(([, server]) => server === 'first' || server === 'second')
        .map((row) => row[column])
        .join(' ')
    }
    await until(states, (state) => state === 'UP UP', 'both are up')
    const restarted = instances.restart(0)
    await until(states, (state) => state === 'DOWN UP', 'the one that drains is out')
    assert.equal(await restarted, 0)
    await until(states, (state) => state === 'UP UP', 'it is back')
  },
)

/** Without `http-check`: the default of `option httpchk`. */
function defaultCheck(
  port: number,
  [first, second]: readonly { api: number; ops: number }[],
  extra = '',
): string {
  return `
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 15s
listen api
    bind 127.0.0.1:${port}
${extra}    option httpchk
    option redispatch 1
    retry-on conn-failure empty-response
    default-server check inter 500ms fall 3 rise 1 pool-purge-delay 4s
    server first 127.0.0.1:${first!.api} port ${first!.ops}
    server second 127.0.0.1:${second!.api} port ${second!.ops}
`
}
