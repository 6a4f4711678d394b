import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
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
  assert.deepEqual(offered(script, ['bds', 'doctor', '--e']), ['--e2e'])
  assert.deepEqual(offered(script, ['bds', 'run', '--http-po']), ['--http-port'])
})
