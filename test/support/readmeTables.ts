import { errorTable } from '../../src/api/errorTable.js'
import { exitCodeMeanings, exitCodes } from '../../src/cli/exitCodes.js'
import { configKeys, endpointKeys } from '../../src/config/keys.js'
import { toToml } from '../../src/config/render.js'

/** The tables of README that must say what the code says. */
export const readmeTables: Readonly<Record<string, () => string>> = {
  'configuration keys': () =>
    table(
      ['key', 'default', 'unit', 'meaning'],
      configKeys.map(({ name, schema, isRequired }) => [
        `\`${name}\``,
        isRequired ? '*needed*' : schema.default === undefined ? '' : `\`${toToml(schema.default)}\``,
        schema.unit ?? '',
        [schema.description, schema.enum === undefined ? '' : `One of ${schema.enum.join(', ')}.`]
          .join(' ')
          .trim(),
      ]),
    ),
  'endpoint keys': () =>
    table(
      ['key of an endpoint', 'unit', 'meaning'],
      endpointKeys.map(({ name, schema }) => [`\`${name}\``, schema.unit ?? '', schema.description ?? '']),
    ),
  'exit codes': () =>
    table(
      ['exit code', 'meaning'],
      Object.entries(exitCodes).map(([name, code]) => [
        String(code),
        exitCodeMeanings[name as keyof typeof exitCodes],
      ]),
    ),
  'error codes': () =>
    table(
      ['code', 'HTTP', 'when, and what to do'],
      Object.entries(errorTable).map(([code, { status, meaning }]) => [
        `\`${code}\``,
        String(status),
        meaning,
      ]),
    ),
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
