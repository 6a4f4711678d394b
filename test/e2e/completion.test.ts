import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pageOf, rowsOf } from '../support/docsPages.js'
import { BDS } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'

/** What bash offers for the last of these words. */
function offered(script: string, words: readonly string[]): string[] {
  const body = `. ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _bds; printf '%s\\n' "\${COMPREPLY[@]}"`
  const text = execFileSync('bash', ['-c', body], { encoding: 'utf8' })
  return text.split('\n').filter((line) => line !== '')
}

test('bash completes commands, their first words and their flags', (t) => {
  const script = join(tempFolder(t), 'bds.bash')
  writeFileSync(script, execFileSync(process.execPath, [BDS, 'completion', 'bash']))
  assert.deepEqual(offered(script, ['bds', 'st']), ['start', 'status'])
  assert.deepEqual(offered(script, ['bds', 'config', 'pr']), ['print'])
  assert.deepEqual(offered(script, ['bds', 'config', 'i']), ['import'])
  assert.deepEqual(offered(script, ['bds', 'doctor', '--e2']), ['--e2e'])
  assert.deepEqual(offered(script, ['bds', 'run', '--http-po']), ['--http-port'])
})

test('bash completes every command of `bds --help`, with the words and flags that docs/operations.md names, and flags of the configuration', (t) => {
  const script = join(tempFolder(t), 'bds.bash')
  writeFileSync(script, execFileSync(process.execPath, [BDS, 'completion', 'bash']))
  const help = execFileSync(process.execPath, [BDS, '--help'], { encoding: 'utf8' })
  const verbs = [...help.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, verb]) => verb!)
  assert.deepEqual(offered(script, ['bds', '']), verbs)
  const usages = rowsOf(pageOf('docs/operations.md'), 'command').flatMap(([cell]) =>
    [...cell!.replaceAll('\\|', '|').matchAll(/`bds ([^`]+)`/g)].map(([, usage]) => usage!),
  )
  assert.deepEqual([...new Set(usages.map((usage) => usage.split(' ')[0]))].toSorted(), verbs.toSorted())
  for (const usage of usages) {
    const [verb, first = ''] = usage.split(' ')
    const words = /^[a-z]/.test(first) ? first.split('|') : []
    const flags: readonly string[] = usage.match(/--[a-z0-9-]+/g) ?? []
    const all = offered(script, ['bds', verb!, ''])
    for (const word of [...words, ...flags]) assert.ok(all.includes(word), `${usage}: ${word}`)
    if (flags.includes('--config')) assert.ok(all.includes('--data-dir'), usage)
  }
})

test('bash completes files where a flag wants one', (t) => {
  const folder = tempFolder(t)
  const script = join(folder, 'bds.bash')
  writeFileSync(script, execFileSync(process.execPath, [BDS, 'completion', 'bash']))
  for (const words of [
    ['run', '--config'],
    ['verify', '-c'],
    ['backup', '--to'],
    ['restore', '--from'],
    ['export', '--out'],
  ])
    assert.deepEqual(offered(script, ['bds', ...words, join(folder, 'bds.b')]), [script], words.join(' '))
})
