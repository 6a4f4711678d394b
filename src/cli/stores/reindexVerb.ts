import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { exitCodes } from '../../service/exitCodes.js'
import { removeShard } from '../../store/removeShard.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { publicJson, visibleText } from '../../telemetry/visibleText.js'
import { otherFlagsHelp } from '../input/arguments.js'
import { UsageError, type Verb } from '../input/verb.js'
import { oneNetwork } from './chosenNetworks.js'
import { inLockedFolder, readStoreArguments } from './storeVerb.js'

/** `bds reindex`: removes the shard of one network; the next `bds run` reads the network from the chain again. */
export const reindex: Verb = {
  help: [
    'Usage: bds reindex --config FILE --network N [--yes] [--json] [flags]',
    '',
    'Removes what is stored of network N, even if it was stored for another chain; the next `bds run` reads it from the chain again.',
    'Stop the service before. Other networks keep their data. Asks before it removes; without a terminal --yes is needed.',
    '',
    '  --network N    the network',
    '  --yes          do not ask',
    '  --json         one JSON document instead of a line',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const { values, switches, config, isJson } = readStoreArguments(args, {
      network: { type: 'string' },
      yes: { type: 'boolean' },
    })
    const { networkId } = oneNetwork(config, values)
    const directory = shardDirectory(config.dataDir, networkId)
    const tell = (removed: boolean, told: string): void =>
      console.log(isJson ? publicJson({ network_id: networkId, removed, directory }) : visibleText(told))
    if (!existsSync(directory)) {
      tell(false, `network ${networkId} has no data in ${config.dataDir}`)
      return exitCodes.ok
    }
    if (
      !switches.has('yes') &&
      !(await isConfirmed(`Remove ${directory} and index network ${networkId} again?`))
    ) {
      tell(false, 'nothing was removed')
      return exitCodes.failure
    }
    await inLockedFolder(config, 'write', async () => removeShard(directory))
    tell(true, `removed ${directory}: the next bds run reads network ${networkId} again`)
    return exitCodes.ok
  },
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError("standard input is not a terminal, so it can't ask: use --yes")
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(visibleText(`${question} [y/N] `))).trim())
  } finally {
    terminal.close()
  }
}
