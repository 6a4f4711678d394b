import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchBranches } from './micro/branches.js'
import { benchNodeHashes } from './micro/nodeHashes.js'
import { readOptions } from './micro/options.js'
import { commitLine, installRivals, machineLine } from './micro/project.js'
import { markdownTable, targetTable, writeSection } from './micro/report.js'
import { benchTreeBuild } from './micro/treeBuild.js'

const values = readOptions({
  size: {
    type: 'string',
    help: 'one more size of tree for the proofs, in leaves (default: 10000 and 1000000 only)',
  },
})
const sizes = [10_000, 1_000_000, ...(values.size === undefined ? [] : [Number(values.size)])]

installRivals()
const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
try {
  const hashes = await benchNodeHashes(folder)
  const build = await benchTreeBuild(folder)
  const branches = await benchBranches(folder, sizes)
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}.`,
    targetTable([...hashes.targets, ...build.targets, ...branches.targets]),
    '### Hashes of 64-byte nodes',
    markdownTable(['', 'k hashes/s', '÷ our scalar'], hashes.rows),
    '### Building a tree of 1,000,000 leaves',
    markdownTable(['', 'M leaves/s', 'ms'], build.rows),
    '### Proofs, folded to their root, from LMDB: µs each',
    markdownTable(['', ...sizes.map((size) => `${size} leaves`)], branches.rows),
  ].join('\n\n')
  writeSection('merkle', body)
  console.log(body)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
