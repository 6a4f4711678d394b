import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnvilChain } from './backfill/anvilChain.js'
import { type ContenderName, type ContenderResult, runContender } from './backfill/contenders.js'
import { startSyntheticChain } from './backfill/syntheticChain.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable, targetTable, writeSection } from './micro/report.js'

const values = readOptions({
  size: { type: 'string', default: '100000', help: 'bridges on the chains that are read' },
  rounds: { type: 'string', default: '3', help: 'turns of each contender, whose median counts' },
  shared: { type: 'string', default: '../shared', help: 'folder that holds the generator of the chains' },
  only: { type: 'string', default: 'parse,service,viem', help: 'contenders; parse and service are needed' },
  doc: { type: 'boolean', default: false, help: 'write the figures into bench/README.md' },
  senders: { type: 'boolean', default: false, help: 'go on until every sender is known' },
  anvil: { type: 'boolean', default: false, help: "read from the devnet's anvil nodes, not the generator" },
})
const bridges = Number(values.size)
const names = values.only.split(',') as ContenderName[]
const titles: Record<ContenderName, string> = {
  parse: 'fetch and parse only',
  service: 'our indexer threads',
  viem: 'same pipeline, viem getLogs({ events })',
}

const chain = await (values.anvil ? startAnvilChain(bridges) : startSyntheticChain(values.shared, bridges))
const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
try {
  const results = new Map<ContenderName, ContenderResult[]>(names.map((name) => [name, []]))
  for (let round = 0; round < Number(values.rounds); round++)
    for (const name of names) {
      const own = join(folder, `${name}-${round}`)
      mkdirSync(own)
      const result = await runContender(name, {
        ...{ folder: own, networks: chain.networks, withSenders: values.senders },
      })
      console.error(`${name}: ${JSON.stringify(result)}`)
      results.get(name)!.push(result)
      rmSync(own, { recursive: true, force: true })
    }
  const parsed = results.get('parse')![0]!
  for (const [name, [first]] of results)
    if (first!.deposits !== parsed.deposits || first!.claims !== parsed.claims)
      throw new Error(
        `${name} found ${first!.deposits} deposits, ${first!.claims} claims, parse ${parsed.deposits}, ${parsed.claims}`,
      )

  const logs = parsed.logs!
  const cpu = (name: ContenderName) => median(results.get(name)!.map(({ cpuMs }) => cpuMs)) / 1000
  const peakRss = (name: ContenderName) =>
    Math.max(...results.get(name)!.map((result) => result.peakRssBytes)) / 2 ** 20
  const peakAnonymous = (name: ContenderName) =>
    Math.max(...results.get(name)!.map((result) => result.peakAnonymousBytes ?? Number.NaN)) / 2 ** 20
  const rows = names.map((name) => [
    titles[name],
    ((cpu(name) / logs) * 100_000).toFixed(2),
    (logs / cpu(name) / 1000).toFixed(0),
    (logs / median(results.get(name)!.map(({ wallMs }) => wallMs))).toFixed(0),
    peakRss(name).toFixed(0),
    peakAnonymous(name).toFixed(0),
  ])
  const targets = [
    { text: 'ours ÷ fetch and parse only, CPU time', value: cpu('service') / cpu('parse'), atMost: 1.7 },
    ...(names.includes('viem')
      ? [
          {
            text: 'ours ÷ same pipeline with viem getLogs({ events }), CPU time',
            value: cpu('service') / cpu('viem'),
            atMost: 0.33,
          },
        ]
      : []),
    ...(values.anvil
      ? [
          {
            text: 'k logs/s by the clock, from anvil',
            value: logs / median(results.get('service')!.map(({ wallMs }) => wallMs)),
            atLeast: 25,
          },
        ]
      : []),
    { text: 'peak resident memory of ours', unit: 'MiB', value: peakRss('service'), atMost: 600 },
  ]
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}: ${bridges} bridges on three networks, ${logs} logs, median of ${values.rounds}.`,
    targetTable(targets),
    markdownTable(
      [
        '',
        'CPU s per 100 k logs',
        'k logs per CPU s',
        'k logs/s by the clock',
        'peak RSS, MiB',
        'of it no mapped file',
      ],
      rows,
    ),
  ].join('\n\n')
  if (values.doc) writeSection(values.anvil ? 'backfill-anvil' : 'backfill', body)
  console.log(body)
} finally {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}
