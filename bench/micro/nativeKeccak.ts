import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { benchRoot } from './project.js'
import type { Contender } from './race.js'

const source = join(benchRoot, 'native', 'keccak.c')
const levels = [['-O2'], ['-O3', '-march=native']] as const

export interface NativeKeccak extends Contender {
  /** Hashes of the pairs, as the program wrote them in its last run. */
  hashes(): Uint8Array
}

/**
 * Builds the C reference with the first compiler found, once per optimisation level.
 * @param folder folder for the programs. @param pairs what they hash.
 * @returns no contenders when there is no compiler.
 */
export function buildNativeKeccak(folder: string, pairs: Uint8Array): readonly NativeKeccak[] {
  const compiler = ['gcc', 'cc', 'clang'].find(
    (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0,
  )
  if (compiler === undefined) return []
  return levels.map((flags, i) => {
    const program = join(folder, `keccak-${i}`)
    const build = spawnSync(compiler, [...flags, '-o', program, source], { encoding: 'utf8' })
    if (build.status !== 0) throw new Error(`${compiler} ${flags.join(' ')} failed: ${build.stderr}`)
    let hashes = new Uint8Array()
    return {
      name: `C, one lane, ${compiler} ${flags.join(' ')}`,
      hashes: () => hashes,
      measure(milliseconds) {
        const run = spawnSync(program, [String(milliseconds)], { input: pairs })
        if (run.status !== 0) throw new Error(`the C reference failed with status ${run.status}`)
        hashes = run.stdout
        return Number(run.stderr.toString('ascii'))
      },
    }
  })
}
