import { type ParseArgsConfig, parseArgs } from 'node:util'

type Option = NonNullable<ParseArgsConfig['options']>[string] & {
  /** What the option is for, and what holds without it if that is not its `default`. */
  readonly help: string
}
type Options = Readonly<Record<string, Option>>
type Values<Own extends Options> = ReturnType<
  typeof parseArgs<{ readonly options: Own; readonly allowNegative: true }>
>['values']

/** Reads a bench's options from the command line. For `--help` or an unknown option it prints them and ends the process. */
export function readOptions<const Own extends Options>(options: Own): Values<Own> {
  try {
    if (!process.argv.slice(2).includes('--help')) return parseArgs({ options, allowNegative: true }).values
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 2
  }
  for (const [name, option] of Object.entries(options)) console.log(usageOf(name, option))
  process.exit()
}

const FLAG_WIDTH = 18

function usageOf(name: string, { type, default: usual, help }: Option): string {
  const flag = type === 'boolean' ? (usual === true ? `--no-${name}` : `--${name}`) : `--${name} …`
  const fallback = usual === undefined ? '' : ` (default: ${typeof usual === 'boolean' ? 'off' : usual})`
  return `  ${flag.padEnd(FLAG_WIDTH)}${help}${fallback}`
}
