import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BranchCosts, benchBranches, branchTargets } from './micro/branches.js'
import { benchNodeHashes } from './micro/nodeHashes.js'
import { commitLine, installRivals, machineLine } from './micro/project.js'
import { markdownTable, targetTable, writeSection } from './micro/report.js'
import { benchTreeBuild } from './micro/treeBuild.js'

const { values } = parseArgs({ options: { size: { type: 'string' } } })
const sizes = [10_000, 1_000_000, ...(values.size === undefined ? [] : [Number(values.size)])]

installRivals()
const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
try {
  const hashes = await benchNodeHashes(folder)
  const build = await benchTreeBuild(folder)
  const branches: BranchCosts[] = []
  for (const size of sizes) branches.push(await benchBranches(folder, size))
  const us = (value: number | undefined) => value?.toFixed(1) ?? '—'
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}.`,
    targetTable([...hashes.targets, ...build.targets, ...branchTargets(branches)]),
    '### Hashes of 64-byte nodes',
    markdownTable(['', 'k hashes/s', '÷ our scalar'], hashes.rows),
    '### Building a tree of 1,000,000 leaves',
    markdownTable(['', 'M leaves/s', 'ms'], build.rows),
    '### Proofs, folded to their root, from LMDB: µs each',
    markdownTable(
      ['', ...branches.map(({ leafCount }) => `${leafCount} leaves`)],
      [
        ['bare fold of 32 hashes', ...branches.map((costs) => us(costs.fold))],
        ['newest size', ...branches.map((costs) => us(costs.newest))],
        ['newest size, edge cached', ...branches.map((costs) => us(costs.newestWithEdge))],
        ['random size', ...branches.map((costs) => us(costs.random))],
        ['one of 64 random sizes, edge cached', ...branches.map((costs) => us(costs.randomWithEdge))],
        ['random size, with hex JSON', ...branches.map((costs) => us(costs.randomJson))],
        [
          'one of 64 random sizes, edge cached, with hex JSON',
          ...branches.map((costs) => us(costs.randomJsonWithEdge)),
        ],
        ['random size, store not in the page cache', ...branches.map((costs) => us(costs.cold))],
      ],
    ),
  ].join('\n\n')
  writeSection('merkle', body)
  console.log(body)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
