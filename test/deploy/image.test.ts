import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { pageOf } from '../support/docsPages.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { BDS, inheritedEnvironment, startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { tempFolder } from '../support/tempFolder.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const text = pageOf('deploy/Dockerfile')
const dockerfile = DockerfileParser.parse(text)

/** The lines of .dockerignore that let something in. */
const admitted = pageOf('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))

test('the Dockerfile has no fault that a linter sees', () => {
  assert.deepEqual(validate(text), [])
  const planted = validate(
    text.replace('EXPOSE 5577', 'EXPOSE port').replace('--from=build', '--fromm=build'),
  )
  assert.equal(planted.length, 2, JSON.stringify(planted))
})

test('the context of the image begins with nothing, and everything that is let in exists', () => {
  assert.equal(
    pageOf('.dockerignore')
      .split('\n')
      .find((line) => line !== '' && !line.startsWith('#')),
    '*',
  )
  assert.deepEqual(
    admitted.filter((path) => !existsSync(join(root, path))),
    [],
  )
  for (const secret of ['deploy', 'data', '.git', 'node_modules', 'dist'])
    assert.ok(!admitted.some((path) => path.split('/')[0] === secret), secret)
})

test('what the image copies one by one from the context is let in', () => {
  const sources = dockerfile
    .getCOPYs()
    .filter((copy) => copy.getFlags().length === 0)
    .flatMap((copy) =>
      copy
        .getArguments()
        .slice(0, -1)
        .map((source) => source.getValue()),
    )
  assert.ok(sources.length >= 4)
  assert.deepEqual(
    sources.filter((source) => source !== '.' && !admitted.includes(source)),
    [],
  )
})

test('no package runs a script of its own while the image is built', () => {
  const commands = dockerfile
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === 'RUN')
    .flatMap((instruction) => instruction.getArgumentsContent()!.split('&&'))
  const installs = commands.filter((command) => /\bnpm (ci|i|install|add)\b/.test(command))
  assert.equal(installs.length, 2)
  assert.deepEqual(
    installs.filter((command) => !command.includes('--ignore-scripts')),
    [],
  )
})

test('the image has the line of Node that is recommended', () => {
  const [, line] = /^ARG NODE_IMAGE=node:(\d+)-trixie-slim$/m.exec(text)!
  assert.equal(line, pageOf('.nvmrc').trim())
  assert.equal(text.match(/^FROM \$\{NODE_IMAGE\}/gm)!.length, 3)
})

test('systemd takes the units, and finds them confined', { skip: skipWithout('systemd-analyze') }, (t) => {
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'units'))
  const written = (name: string): string => {
    const file = join(folder, 'units', name)
    writeFileSync(file, pageOf(`deploy/${name}`))
    return file
  }
  const analyze = (...args: string[]) =>
    spawnSync(installedProgram('systemd-analyze')!, args, { encoding: 'utf8' })
  const [file, backup] = [written('bds@.service'), written('bds-backup@.service')]
  for (const each of [file, backup, written('bds-backup@.timer')]) {
    const verified = analyze('verify', each)
    assert.deepEqual([verified.status, verified.stderr], [0, ''], each)
  }
  for (const each of [file, backup]) {
    const judged = analyze('security', '--offline=true', '--threshold=20', each)
    assert.equal(judged.status, 0, judged.stdout.split('\n').at(-2))
  }
  writeFileSync(file, pageOf('deploy/bds@.service').replace('Type=exec', 'Type=exce'))
  assert.notEqual(analyze('verify', file).stderr, '', 'negative control')
})

test('the command of the backup unit makes a backup beside a running service, under a name of its own', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  await inStep(service, world)
  const folder = tempFolder(t)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'bds'), `#!/bin/sh\nexec '${process.execPath}' '${BDS}' "$@"\n`, { mode: 0o755 })
  const [, quoted] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(pageOf('deploy/bds-backup@.service'))!
  // What systemd makes of it, with the places of this test.
  const command = quoted!
    .replaceAll('$$', '$')
    .replaceAll('%%', '%')
    .replaceAll('/etc/bds/%i.toml', configFile('data'))
    .replaceAll('/var/backups/bds/%i', folder)
  const { status, stderr } = spawnSync('/bin/sh', ['-c', command], {
    encoding: 'utf8',
    env: { ...inheritedEnvironment(), PATH: `${bin}:${process.env.PATH}` },
  })
  assert.deepEqual([status, stderr], [0, ''])
  const [made] = readdirSync(folder).filter((name) => name.endsWith('.tar'))
  assert.match(made ?? '', /^\d{8}T\d{6}Z\.tar$/)
})
