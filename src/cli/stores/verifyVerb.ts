import { exitCodes } from '../../service/exitCodes.js'
import { publicJson, publicLines } from '../../telemetry/visibleText.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'
import { otherFlagsHelp } from '../input/arguments.js'
import type { Verb } from '../input/verb.js'
import { chosenNetworks } from './chosenNetworks.js'
import type { CheckOutcome } from './compareState.js'
import { inLockedFolder, readStoreArguments } from './storeVerb.js'
import { type NetworkReport, verifyNetwork } from './verifyNetwork.js'

/** `bds verify`: computes again what the store has derived from its rows, and reports what differs. */
export const verify: Verb = {
  help: [
    'Usage: bds verify --config FILE [--network N] [--deep] [--offline] [--json] [flags]',
    '',
    'Checks the stores, also while a service uses them: each network is read in one snapshot, and nothing is written.',
    'Ends with 0 when no damage is found and with 4 otherwise, naming the first damage.',
    '',
    '  --network N    check this network only',
    '  --deep         check every tree node, root, list, link and counter, and compare every claim, injection and token',
    '                 mapping with the contracts: takes minutes for millions of deposits',
    '  --offline      do not compare with the contract',
    '  --json         one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches, config, isJson } = readStoreArguments(args, {
      network: { type: 'string' },
      deep: { type: 'boolean' },
      offline: { type: 'boolean' },
    })
    const hasher = createHasher(compileMerkleModule())
    const reports: NetworkReport[] = []
    const networks = chosenNetworks(config, values)
    await inLockedFolder(config, 'read', async (progress) => {
      for (const [at, network] of networks.entries()) {
        const report = await verifyNetwork({
          dataDir: config.dataDir,
          network,
          hasher,
          isDeep: switches.has('deep'),
          asksChain: !switches.has('offline'),
          networkIds: config.networks.map(({ networkId }) => networkId),
          onProgress: (share, what) =>
            progress.show((at + share) / networks.length, `network ${network.networkId}: ${what}`),
        })
        progress.clear()
        reports.push(report)
        if (!isJson) print(report)
      }
    })
    const first = firstDamage(reports)
    if (isJson) console.log(publicJson({ is_good: first === undefined, networks: reports }))
    else console.log(first === undefined ? 'no damage found' : publicLines(`first damage: ${first}`))
    return first === undefined ? exitCodes.ok : exitCodes.data
  },
}

const words: Readonly<Record<CheckOutcome['outcome'], string>> = {
  good: 'ok',
  damaged: 'DAMAGED',
  skipped: 'skipped',
}

function print({ network_id, block, checks }: NetworkReport): void {
  console.log(`network ${network_id}, ${block === null ? 'nothing indexed yet' : `block ${block}`}`)
  for (const { name, outcome, detail } of checks)
    console.log(publicLines(`  ${words[outcome].padEnd(9)}${name}: ${detail}`))
}

function firstDamage(reports: readonly NetworkReport[]): string | undefined {
  for (const { network_id, checks } of reports) {
    const damaged = checks.find(({ outcome }) => outcome === 'damaged')
    if (damaged !== undefined) return `network ${network_id}, ${damaged.name}: ${damaged.detail}`
  }
  return undefined
}
