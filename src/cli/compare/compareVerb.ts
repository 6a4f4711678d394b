import type { Config } from '../../config/config.types.js'
import { isConfigured, loadConfig } from '../../config/load.js'
import { exitCodes } from '../../service/exitCodes.js'
import { createLogger } from '../../telemetry/logger.js'
import { hideAddress } from '../../telemetry/secrets.js'
import { publicJson, publicLines } from '../../telemetry/visibleText.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { reachableUrl } from '../input/configuredUrl.js'
import { ProgressLine } from '../input/progressBar.js'
import { readNumber } from '../input/readNumber.js'
import { UsageError, type Verb } from '../input/verb.js'
import { compareAggkit } from './aggkitComparison.js'
import { AskedService, NoAnswerError } from './askedService.js'
import { ChainWitness } from './chainWitness.js'
import { type Comparison, Findings } from './comparison.js'
import { compareProofApi, compareZkevm } from './zkevmComparison.js'

const dialectNames = ['aggkit', 'zkevm', 'proof'] as const
type DialectName = (typeof dialectNames)[number]

const comparisons: Readonly<
  Record<DialectName, (comparison: Comparison, addresses: readonly string[]) => Promise<void>>
> = { aggkit: compareAggkit, zkevm: compareZkevm, proof: compareProofApi }

const MOST_UINT32 = 2 ** 32 - 1
const SAMPLE = 100
const SETTLE_SEC = 5

/** `bds compare`: what this service and the one that it takes the place of tell otherwise, and who is right. */
export const compare: Verb = {
  help: [
    'Usage: bds compare --with URL --dialect aggkit|zkevm|proof [--config FILE] [--base URL] [--networks A,B] [--addresses A,B] [--sample N] [--settle S] [--json] [flags]',
    '',
    'Pages through the lists of a service that speaks the same API and of ours, compares record by record, and proofs by sample. Of each',
    'difference it says whom the chain supports: endpoints of the configuration are asked, and proofs are folded to their root.',
    'Ends with 0 when nothing differs, with 6 when something does, and with 5 when one of both does not answer.',
    '',
    '  --with URL         base URL of the other service, as its clients are given it',
    '  --dialect NAME     the API that both speak',
    '  --base URL         base URL of ours in that API; default http.host, http.port and base_path of the configuration',
    '  --networks A,B     networks to compare; default those of the configuration',
    '  --addresses A,B    zkevm: receivers whose lists are compared, beside those of the bridges of the sample',
    `  --sample N         bridges of each network that are looked at one by one, with their proofs; default ${SAMPLE}`,
    `  --settle S         seconds until differences are looked at once more; default ${SETTLE_SEC}`,
    '  --json             one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches } = readArguments(args, {
      ...configOptions,
      with: { type: 'string' },
      dialect: { type: 'string' },
      base: { type: 'string' },
      networks: { type: 'string' },
      addresses: { type: 'string' },
      sample: { type: 'string' },
      settle: { type: 'string' },
      json: { type: 'boolean' },
    })
    const dialect = dialectNames.find((name) => name === values.dialect)
    if (dialect === undefined)
      throw new UsageError(
        `--dialect ${values.dialect ?? 'is missing'}: expected one of ${dialectNames.join(', ')}`,
      )
    if (values.with === undefined) throw new UsageError('--with is missing')
    const config = isConfigured(values.config)
      ? loadConfig({ file: values.config, flags: values }).config
      : undefined
    const base = values.base ?? configuredBase(config, dialect)
    for (const address of [values.with, base]) if (URL.canParse(address)) hideAddress(address)
    const services = {
      ours: new AskedService('our service', '--base', base),
      theirs: new AskedService('the other service', '--with', values.with),
    }
    const findings = new Findings()
    const progress = new ProgressLine()
    const logger = createLogger({ level: 'error', format: 'json' }, { component: 'compare' })
    try {
      await comparisons[dialect](
        {
          services,
          findings,
          progress,
          networkIds: chosenNetworks(config, values.networks),
          sample: readNumber(values, 'sample', SAMPLE, MOST_UINT32),
          settleMs: 1000 * readNumber(values, 'settle', SETTLE_SEC, 3600),
          witness: new ChainWitness(config, createHasher(compileMerkleModule()), logger),
        },
        listed(values.addresses, /^0x[0-9a-f]{40}$/i, '--addresses', 'an address'),
      )
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      progress.clear()
      console.error(publicLines(`bds: ${error.message}`))
      return exitCodes.unhealthy
    } finally {
      progress.clear()
    }
    if (switches.has('json')) console.log(publicJson(documentOf(dialect, findings)))
    else console.log(publicLines(linesOf(findings)))
    return findings.differenceCount === 0 ? exitCodes.ok : exitCodes.different
  },
}

/** @throws UsageError when it can't be known. */
function configuredBase(config: Config | undefined, name: DialectName): string {
  if (config === undefined) throw new UsageError('--base or --config is missing')
  const dialect = config.dialects[name]
  if (dialect === undefined) throw new UsageError(`dialects.${name} is switched off: use --base`)
  const { host, port } = config.http
  if (port === 0) throw new UsageError('http.port is 0, which is any free port: use --base')
  return reachableUrl(host, port) + dialect.basePath
}

function chosenNetworks(config: Config | undefined, text: string | undefined): readonly number[] {
  if (text === undefined && config === undefined) throw new UsageError('--networks or --config is missing')
  return text === undefined
    ? config!.networks.map(({ networkId }) => networkId)
    : listed(text, /^(?:0|[1-9]\d{0,9})$/, '--networks', 'a network id').map(Number)
}

function listed(text: string | undefined, form: RegExp, flag: string, what: string): string[] {
  const items = text === undefined ? [] : text.split(',').map((item) => item.trim())
  const wrong = items.find((item) => !form.test(item))
  if (wrong !== undefined) throw new UsageError(`${flag}: ${JSON.stringify(wrong)} is not ${what}`)
  return items
}

function documentOf(dialect: DialectName, findings: Findings): object {
  const { differences, differenceCount, notes, compared } = findings
  return {
    is_equal: differenceCount === 0,
    dialect,
    compared: Object.fromEntries(compared),
    difference_count: differenceCount,
    differences,
    notes: [...notes],
  }
}

const supports = {
  ours: 'the chain supports us',
  theirs: 'the chain supports the other service',
  both: 'the chain supports both',
  neither: 'the chain supports neither',
  unknown: 'not decided',
} as const

function linesOf({ differences, differenceCount, notes, compared }: Findings): string {
  const lines = differences.flatMap(({ what, field, ours, theirs, chain, because }) => [
    `${what}: ${field}`,
    `  ours    ${ours ?? '-'}`,
    `  theirs  ${theirs ?? '-'}`,
    `  ${supports[chain]}: ${because}`,
  ])
  if (differenceCount > differences.length)
    lines.push(`and ${differenceCount - differences.length} more differences`)
  for (const note of notes) lines.push(`note: ${note}`)
  const counts = [...compared].map(([what, count]) => `${count} ${what}`).join(', ')
  lines.push(
    `compared: ${counts === '' ? 'nothing' : counts}`,
    differenceCount === 0 ? 'no difference found' : `differences: ${differenceCount}`,
  )
  return lines.join('\n')
}
