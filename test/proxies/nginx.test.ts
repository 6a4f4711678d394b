import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '../support/freePort.js'
import { skipWithout } from '../support/installedProgram.js'
import { RawConnection, requestText } from '../support/rawHttp.js'
import { tempFolder } from '../support/tempFolder.js'
import {
  assertEventsPass,
  assertRollsUnderLoad,
  deployed,
  runProxy,
  startTwoInstances,
} from './proxyWorld.js'

const rules = { skip: skipWithout('nginx'), timeout: 200_000 }

test(
  'nginx with deploy/nginx.conf: events pass, and a rolling restart under load fails no request',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    await nginx(context, port, deployed('nginx.conf', port, instances.ports))
    await assertEventsPass(context, port)
    await assertRollsUnderLoad(port, instances)
  },
)

test(
  'behind nginx a body on GET and pipelined requests leave the order of answers on every connection right',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    await nginx(context, port, deployed('nginx.conf', port, instances.ports))
    const smuggled = 'GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n'
    for (const [header, bytes] of [
      [`Content-Length: ${smuggled.length}`, smuggled],
      ['Transfer-Encoding: chunked', `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`],
    ] as const) {
      const connection = new RawConnection(port)
      const { targets } = instances
      connection.send(requestText('GET', targets[0]!.path, [header]) + bytes)
      connection.send(
        targets
          .slice(1)
          .map(({ path }) => requestText('GET', path))
          .join(''),
      )
      for (const { path, body } of targets)
        assert.equal((await connection.response()).body, body, `${path} ${header}`)
      connection.destroy()
    }
  },
)

test(
  'nginx with its default HTTP/1.0 gets answers from the operations port, and none from the API',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    const { api, ops } = instances.ports[0]!
    await nginx(
      context,
      port,
      `server {
      listen 127.0.0.1:${port};
      location / { proxy_pass http://127.0.0.1:${ops}; proxy_http_version 1.0; }
      location /bridge/ { proxy_pass http://127.0.0.1:${api}; proxy_http_version 1.0; }
    }`,
    )
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    assert.deepEqual([await ask('/readyz'), await ask('/')], [200, 200])
    // The modern build answers 505. The old one closes without an answer, which nginx reports as 502.
    assert.ok([502, 505].includes(await ask('/bridge/v1/sync-status')))
  },
)

async function nginx(context: TestContext, port: number, http: string): Promise<void> {
  const folder = tempFolder(context)
  const file = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n')
  writeFileSync(
    file,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr warn; worker_processes 1;
    events { worker_connections 1024; }
    http { access_log off; ${temporary}\n${http}\n}`,
  )
  await runProxy(context, 'nginx', ['-p', folder, '-c', file], port)
}
