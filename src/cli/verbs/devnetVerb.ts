import { runClaim } from '../../devnet/claim.js'
import { DevnetError } from '../../devnet/devnetError.js'
import { exitCodes } from '../../service/exitCodes.js'
import { visibleLines } from '../../telemetry/visibleText.js'
import { readArguments } from '../input/arguments.js'
import { readNumber } from '../input/readNumber.js'
import { UsageError, type Verb } from '../input/verb.js'

const MAX_UINT32 = 2 ** 32 - 1

/** `bds devnet claim`: claims a deposit on the devnet of `bds start`, with a proof from its API. */
export const devnet: Verb = {
  help: [
    'Usage: bds devnet claim --network N --deposit D [--url URL]',
    '',
    'Asks the API of the running devnet for the L1 info leaf and the proof of a deposit, claims it on the contract, and',
    'prints its record before and after.',
    '',
    '  --network N  source network of the deposit',
    '  --deposit D  its deposit count',
    '  --url URL    address of the service; needed when several devnets run',
  ].join('\n'),
  async run(args) {
    const text = { type: 'string' } as const
    const { words, values } = readArguments(args, { network: text, deposit: text, url: text }, 1)
    if (words[0] !== 'claim') throw new UsageError('expected bds devnet claim')
    const options = {
      network: readNumber(values, 'network', undefined, MAX_UINT32),
      deposit: readNumber(values, 'deposit', undefined, MAX_UINT32),
      ...(values.url === undefined ? {} : { url: values.url }),
    }
    try {
      await runClaim(options, (line) => console.log(visibleLines(line)))
      return exitCodes.ok
    } catch (error) {
      if (!(error instanceof DevnetError)) throw error
      console.error(visibleLines(`bds: ${error.message}`))
      return exitCodes.failure
    }
  },
}
