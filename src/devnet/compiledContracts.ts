import { readFileSync } from 'node:fs'
import type { Abi, Hex } from 'viem'
import type { ContractName } from './contractNames.js'
import { DevnetError } from './devnetError.js'

export interface CompiledContract {
  readonly abi: Abi
  /** Creation code, without constructor arguments. */
  readonly bytecode: Hex
}

/** @throws DevnetError when the contracts were not built. */
export function readCompiledContract(name: ContractName): CompiledContract {
  const file = new URL(`../../contracts/${name}.json`, import.meta.url)
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CompiledContract
  } catch (cause) {
    throw new DevnetError(`no compiled contract ${name}: run npm run build`, { cause })
  }
}
