import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { pageOf } from '../support/docsPages.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { skipWithout } from '../support/installedProgram.js'
import { BDS, inheritedEnvironment, startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'

/** A row of the page: the command that is run, where the row says what it prints. */
interface Row {
  readonly number: number
  readonly shownBy: string
  readonly command: string | undefined
  readonly tells: string | undefined
}

/** What an operator of aggkit has to fill in. */
const AGGKIT = `
L1URL = "http://localhost:8545"
L2URL = "http://localhost:8123"
NetworkID = 1
[L1Config]
chainId = 1
polygonZkEVMGlobalExitRootAddress = "0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb"
polygonRollupManagerAddress = "0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2"
`

function rowsOfPage(): Row[] {
  const rows = [...pageOf('docs/operators.md').matchAll(/^\| (\d+) \| (.*) \|$/gm)]
  return rows.map(([, number, rest]) => {
    const cells = rest!.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
    assert.equal(cells.length, 4, rest)
    const [, , shownBy = '', tells = ''] = cells
    const first = (cell: string) => /`([^`]+)`/.exec(cell)?.[1]
    return { number: Number(number), shownBy, command: first(shownBy), tells: first(tells) }
  })
}

test('docs/operators.md has forty rows, and each that is there is shown by a command', () => {
  const rows = rowsOfPage()
  assert.deepEqual(
    rows.map(({ number }) => number),
    Array.from({ length: 40 }, (_, at) => at + 1),
  )
  const silent = rows.filter(({ tells }) => tells === undefined)
  for (const { number, shownBy } of silent)
    assert.ok(/`(?:npm (?:run [a-z]+|start)|bds doctor)/.test(shownBy), `${number}: ${shownBy}`)
  assert.ok(rows.length - silent.length >= 27)
})

test('what docs/operators.md says of a command is what it prints against a running service', {
  skip: skipWithout('curl', 'grep'),
}, async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const folder = tempFolder(t)
  const file = join(folder, 'bds.toml')
  const limits = '[rate_limit]\ntokens_per_second = 50'
  const text = readFileSync(configFile('data'), 'utf8')
  writeFileSync(file, text.replace('level = "debug"', `level = "info"\n${limits}`))
  const service = await startService(t, file)
  const { networks } = await inStep(service, world)
  await until(
    () => service.read<{ networks: typeof networks }>('/bridge/v1/sync-status'),
    (status) => status.networks.every((network) => network.contracts_compared === true),
    'contracts compared',
  )
  await until(
    () => service.stderr,
    (lines) => lines.some((line) => line.includes('"service started"')),
    'the line of the start',
  )
  writeFileSync(join(folder, 'bds.log'), `${service.stderr.join('\n')}\n`)
  writeFileSync(join(folder, 'aggkit.toml'), AGGKIT)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'bds'), `#!/bin/sh\nexec '${process.execPath}' '${BDS}' "$@"\n`, { mode: 0o755 })
  const ports = { 5577: new URL(service.url).port, 9091: new URL(service.opsUrl).port }
  const env = {
    ...inheritedEnvironment(),
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    BDS_HTTP__PORT: ports[5577],
    BDS_OPS__PORT: ports[9091],
  }
  let count = 0
  for (const { number, command, tells } of rowsOfPage()) {
    if (tells === undefined) continue
    const here = command!.replace(
      /127\.0\.0\.1:(5577|9091)/g,
      (_, port: 5577 | 9091) => `127.0.0.1:${ports[port]}`,
    )
    const { stdout, stderr } = spawnSync('sh', ['-c', here], { cwd: folder, env, encoding: 'utf8' })
    assert.ok(stdout.includes(tells), `${number}: ${here}\n${stdout.slice(0, 2_000)}${stderr}`)
    count++
  }
  assert.ok(count >= 27, `${count} commands`)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})
