import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildLoneWorld } from '../../support/fakeChainScenario.js'
import { RawConnection, requestText } from '../../support/rawHttp.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'
import { inOtherNamespace, noOtherNamespace } from '../otherNamespace.js'

const BRIDGES = '/bridge/v1/bridges?network_id=0'

for (const threads of ['1', '3'])
  test(`on SIGTERM readiness fails, keep-alive clients are served through the drain delay, then each gets a last whole answer with Connection: close; front threads: ${threads}`, async (t) => {
    const { world, configFile } = await serveWorld(t, buildLoneWorld())
    const service = await startService(t, configFile('data'), [
      '--http-drain-delay-ms',
      '1000',
      '--http-threads',
      threads,
    ])
    await inStep(service, world)
    const port = Number(new URL(service.url).port)
    const ops = Number(new URL(service.opsUrl).port)
    const body = (await (await fetch(service.url + BRIDGES)).text()) || assert.fail()

    /**
     * Asks until an answer says that the connection closes.
     * @returns the answers while the service was not ready, without the last one.
     */
    const client = async (): Promise<number> => {
      const connection = new RawConnection(port)
      let answers = 0
      for (;;) {
        const answer = await connection.send(requestText('GET', BRIDGES)).response()
        assert.deepEqual([answer.status, answer.body], [200, body])
        if (answer.headers.get('connection') === 'close') break
        if (closings.length > 0) answers++
      }
      closings.push('close')
      assert.equal(await connection.rest(), '')
      return answers
    }
    const closings: string[] = []
    const clients = Array.from({ length: 8 }, client)
    const exit = service.kill('SIGTERM')
    const probe = new RawConnection(ops)
    while ((await probe.send(requestText('GET', '/readyz')).response()).status === 200);
    closings.push('not ready')
    probe.destroy()
    const answers = await Promise.all(clients)
    assert.equal(closings[0], 'not ready')
    assert.ok(Math.min(...answers) > 0, `${answers} answers`)
    assert.deepEqual(await exit, { code: 0, signal: null })
    await assert.rejects(fetch(service.url))
  })

/** As a container runs it: process 1 of a pid namespace ignores every signal that it has no handler for. */
test('a signal that arrives while the program loads as process 1 of a container ends it with exit code 0', {
  skip: noOtherNamespace,
}, async (t) => {
  const { configFile } = await serveWorld(t, buildLoneWorld())
  const pipe = join(tempFolder(t), 'config.toml')
  execFileSync('mkfifo', [pipe])
  const bds = startBds(t, ['run', '--config', pipe], {}, inOtherNamespace)
  // The command waits for its configuration, which is written only later.
  const writer = await until(
    () => openIfRead(pipe),
    (descriptor) => descriptor !== undefined,
    'a process that reads its configuration',
  )
  const [pid] = readFileSync(`/proc/${bds.child.pid}/task/${bds.child.pid}/children`, 'utf8').split(' ')
  process.kill(Number(pid), 'SIGTERM')
  writeFileSync(writer!, readFileSync(configFile('data')))
  closeSync(writer!)
  assert.deepEqual(await bds.exited, { code: 0, signal: null })
})

function openIfRead(pipe: string): number | undefined {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}
