import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<Own extends Options> = ReturnType<
  typeof parseArgs<{ readonly options: Own; readonly allowNegative: true }>
>['values']

/** A bench's options from the command line. Asked for help, or with one that it does not have, it names them and ends. */
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

function usageOf(name: string, { type, default: usual }: Options[string]): string {
  if (type === 'boolean') return usual === true ? `  --no-${name}` : `  --${name}`
  return `  --${name} …${usual === undefined ? '' : `  (${String(usual)})`}`
}
