import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError } from '../../../src/config/configError.js'
import { type LoadedConfig, loadConfig } from '../../../src/config/load.js'
import { planReload, Reloader } from '../../../src/service/reload.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'
import { EXAMPLE_TOML } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

function loaded(context: TestContext, change: (toml: string) => string = (toml) => toml): LoadedConfig {
  const file = join(tempFolder(context), 'bds.toml')
  writeFileSync(file, change(EXAMPLE_TOML))
  return loadConfig({ file, environment: {} })
}

const withEndpoint = (toml: string) => toml.replace(':18546/secret-key', ':18547/other-key')
const withPort = (toml: string) => toml.replace('port = 5577', 'port = 5588')
const withLevel = (toml: string) => toml.replace('[pool]', '[log]\nlevel = "debug"\n[pool]')
const withLimit = (toml: string) => toml.replace('[pool]', '[rate_limit]\ntokens_per_second = 50\n[pool]')

test('an unchanged configuration changes nothing', (t) => {
  const plan = planReload(loaded(t), loaded(t))
  assert.deepEqual([plan.changed, plan.needRestart, plan.networkIds], [[], [], []])
  assert.deepEqual([plan.isLogNew, plan.isRateLimitNew], [false, false])
})

test('a changed endpoint restarts the thread of its network only, and its plan shows no address', (t) => {
  const plan = planReload(loaded(t), loaded(t, withEndpoint))
  assert.deepEqual([plan.changed, plan.needRestart, plan.networkIds], [['network 1: rpc'], [], [1]])
  assert.equal(plan.config.networks[1]?.rpc[0]?.url, 'http://127.0.0.1:18547/other-key')
})

test('level and limits are taken over; a port, a contract and a new network are named and stay as they are', (t) => {
  const old = loaded(t)
  const next = loaded(t, (toml) =>
    withLevel(withLimit(withPort(toml)))
      .replace('start_block = 0', 'start_block = 5')
      .concat(toml.slice(toml.lastIndexOf('[[networks]]')).replace('network_id = 1', 'network_id = 2')),
  )
  const plan = planReload(old, next)
  assert.deepEqual(plan.changed, ['rate_limit.tokens_per_second', 'log.level'])
  assert.deepEqual(plan.needRestart, ['http.port', 'network 0: start_block', 'networks'])
  assert.deepEqual(plan.networkIds, [])
  assert.deepEqual(
    [
      plan.config.http.port,
      plan.config.networks.length,
      plan.config.log.level,
      plan.config.rateLimit.tokensPerSec,
    ],
    [5577, 2, 'debug', 50],
  )
})

test('the address in a file of secrets counts as changed though the configuration names the same file', (t) => {
  const secret = join(tempFolder(t), 'rpc')
  const named = (toml: string) =>
    toml.replace('"http://127.0.0.1:18546/secret-key"', `{ url_file = "${secret}" }`)
  writeFileSync(secret, 'http://127.0.0.1:1')
  const old = loaded(t, named)
  writeFileSync(secret, 'http://127.0.0.1:2')
  assert.deepEqual(planReload(old, loaded(t, named)).changed, ['network 1: rpc'])
})

interface Act {
  readonly what: string
  readonly of: unknown
}

/** A reloader over a service that keeps what it is told. `files` are what is read, one after the other. */
function reloader(first: LoadedConfig, files: readonly (LoadedConfig | ConfigError)[]) {
  const acts: Act[] = []
  const { logger, lines } = createKeepingLogger()
  let read = 0
  const subject = new Reloader({
    loaded: first,
    reread: () => {
      const next = files[read++]
      if (next instanceof ConfigError || next === undefined) throw next
      return next
    },
    setLog: ({ level, requests }) => acts.push({ what: 'log', of: `${level} ${requests}` }),
    logger,
  })
  const service = {
    setRateLimit: ({ tokensPerSec }: { tokensPerSec: number }) =>
      acts.push({ what: 'limit', of: tokensPerSec }),
    restartIndexer: async (_: unknown, networkId: number) =>
      void acts.push({ what: 'restart', of: networkId }),
  }
  return { subject, service, acts, lines }
}

test('a hangup before the service runs counts once it runs, and takes over what can be', async (t) => {
  const { subject, service, acts } = reloader(loaded(t), [
    loaded(t, (toml) =>
      withLevel(withLimit(withEndpoint(toml))).replace('[log]', '[log]\nrequests = "failed"'),
    ),
  ])
  subject.ask()
  assert.deepEqual(acts, [])
  subject.attach(service)
  await subject.done()
  assert.deepEqual(acts, [
    { what: 'log', of: 'debug failed' },
    { what: 'limit', of: 50 },
    { what: 'restart', of: 1 },
  ])
})

test('a file with mistakes changes nothing, and the log has them', async (t) => {
  const { subject, service, acts, lines } = reloader(loaded(t), [new ConfigError(['http.port is 99999'])])
  subject.attach(service)
  subject.ask()
  await subject.done()
  assert.deepEqual(acts, [])
  assert.match(JSON.stringify(lines), /not reloaded.*http\.port is 99999/)
})

test('what needs a restart is named again by the next reload, what was taken over is not', async (t) => {
  const next = loaded(t, (toml) => withPort(withEndpoint(toml)))
  const { subject, service, lines } = reloader(loaded(t), [next, next])
  subject.attach(service)
  subject.ask()
  await subject.done()
  subject.ask()
  await subject.done()
  const told = lines.map(({ text, fields }) => [text, fields.changed ?? fields.needRestart])
  const restart = ['some changes of the configuration need a restart', ['http.port']]
  assert.deepEqual(told, [
    restart,
    ['configuration reloaded', ['network 1: rpc']],
    restart,
    ['configuration reloaded', []],
  ])
})
