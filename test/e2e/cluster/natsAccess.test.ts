import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nkeys } from '@nats-io/transport-node'
import { ClusterUnavailableError } from '../../../src/cluster/clusterFaults.js'
import type { ServerAccess } from '../../../src/cluster/clusterServers.js'
import { NatsLink } from '../../../src/cluster/nats/natsLink.js'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { installedProgram, skipWithout } from '../../support/installedProgram.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'
import { tempFolder } from '../../support/tempFolder.js'
import { closeAfter, NatsProcesses, TEST_LIMIT_MS } from './natsProcesses.js'

const options = { skip: skipWithout('nats-server', 'openssl'), timeout: TEST_LIMIT_MS }

/** One attempt with this access, and the lines that it has logged. */
async function attempt(context: TestContext, { addresses }: NatsProcesses, access: ServerAccess) {
  const { logger, lines } = createKeepingLogger()
  const link = new NatsLink(addresses, 'test', systemClock, logger, access)
  closeAfter(context, link)
  const fault = await link.session().then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.doesNotMatch(JSON.stringify([lines, String(fault)]), /hunter2|SU[A-Z2-7]{20}|PRIVATE KEY/)
  return { fault, lines }
}

test(
  'servers take an instance by user and password or by its key, and nobody else; no secret is logged',
  options,
  async (context) => {
    const pair = nkeys.createUser()
    const users = `authorization { users: [ { user: me, password: hunter2 }, { nkey: ${pair.getPublicKey()} } ] }`
    const nats = await NatsProcesses.start(context, 1, users)
    const seed = new TextDecoder().decode(pair.getSeed())
    const password = (text: string): ServerAccess => ({
      credentials: { type: 'password', user: 'me', password: text },
    })
    for (const access of [password('hunter2'), { credentials: { type: 'nkey', seed } } as const])
      assert.equal((await attempt(context, nats, access)).fault, undefined)
    for (const access of [password('hunter2x'), {}]) {
      const { fault, lines } = await attempt(context, nats, access)
      assert.ok(fault instanceof ClusterUnavailableError)
      assert.match(fault.message, /does not accept the credentials/)
      assert.deepEqual(
        lines.map(({ text }) => text),
        ['no connection to NATS'],
      )
    }
  },
)

test(
  'with TLS a server is taken that the given authority has signed, no other, and none without TLS',
  options,
  async (context) => {
    const folder = tempFolder(context)
    const file = (name: string): string => join(folder, name)
    for (const name of ['own', 'other'])
      execFileSync(
        installedProgram('openssl')!,
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-days',
          '2',
          '-subj',
          '/CN=test',
          '-addext',
          'subjectAltName=IP:127.0.0.1,DNS:localhost',
          '-keyout',
          file(`${name}.key`),
          '-out',
          file(`${name}.pem`),
        ],
        { stdio: 'ignore' },
      )
    const [own, other] = ['own', 'other'].map((name) => readFileSync(file(`${name}.pem`), 'utf8'))
    const key = readFileSync(file('own.key'), 'utf8')
    const tls = `tls { cert_file: "${file('own.pem')}", key_file: "${file('own.key')}", ca_file: "${file('own.pem')}", verify: true }`
    const nats = await NatsProcesses.start(context, 1, tls)
    const cert = own!
    assert.equal((await attempt(context, nats, { tls: { ca: own!, cert, key } })).fault, undefined)
    for (const access of [{ tls: { ca: other!, cert, key } }, { tls: { ca: own! } }, { tls: {} }, {}])
      assert.ok((await attempt(context, nats, access)).fault instanceof ClusterUnavailableError)
    const plain = await NatsProcesses.start(context, 1)
    assert.ok((await attempt(context, plain, { tls: { ca: own! } })).fault instanceof ClusterUnavailableError)
    assert.equal((await attempt(context, plain, {})).fault, undefined)
  },
)
