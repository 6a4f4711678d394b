import { exitCodes } from '../../service/exitCodes.js'
import { API_VERSION, buildInfo } from '../../telemetry/buildInfo.js'
import { readArguments } from '../input/arguments.js'
import type { Verb } from '../input/verb.js'

/** `bds version`, `bds --version`. */
export const version: Verb = {
  help: 'Usage: bds version [--json]',
  async run(args) {
    const { switches } = readArguments(args, { json: { type: 'boolean' } })
    const facts = { version: buildInfo.version, api: API_VERSION, node: buildInfo.node }
    console.log(
      switches.has('json')
        ? JSON.stringify(facts)
        : `bds ${facts.version} (API ${facts.api}, Node ${facts.node})`,
    )
    return exitCodes.ok
  },
}
