import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { pageOf } from '../support/docsPages.js'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
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

test('systemd takes the unit, and finds it confined', { skip: skipWithout('systemd-analyze') }, (t) => {
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'units'))
  const file = join(folder, 'units', 'bds@.service')
  writeFileSync(file, pageOf('deploy/bds@.service'))
  const analyze = (...args: string[]) =>
    spawnSync(installedProgram('systemd-analyze')!, args, { encoding: 'utf8' })
  const verified = analyze('verify', file)
  assert.deepEqual([verified.status, verified.stderr], [0, ''])
  const judged = analyze('security', '--offline=true', '--threshold=20', file)
  assert.equal(judged.status, 0, judged.stdout.split('\n').at(-2))
  writeFileSync(file, pageOf('deploy/bds@.service').replace('Type=exec', 'Type=exce'))
  assert.notEqual(analyze('verify', file).stderr, '', 'negative control')
})
