import type { KeySchema } from './configKeys.js'
import { isTable, type RawTable, textToValue } from './layers.js'

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

// biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
const MALFORMED = '${ begins neither ${NAME} nor ${NAME:-default}'

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text of the file by values of the environment, so that secrets can stay
 * out of the file. It works on parsed values: no variable can break out of its quotes.
 */
export function expandVariables(
  table: RawTable,
  schema: KeySchema,
  environment: Readonly<Record<string, string | undefined>>,
  mistakes: string[],
): RawTable {
  const expand = (value: unknown, at: string, expected: KeySchema | undefined): unknown => {
    if (typeof value === 'string') return expandText(value, at, expected)
    if (Array.isArray(value)) return value.map((item, i) => expand(item, `${at}[${i}]`, expected?.items))
    if (!isTable(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [
        key,
        expand(child, at === '' ? key : `${at}.${key}`, expected?.properties?.[key]),
      ]),
    )
  }
  const expandText = (text: string, at: string, expected: KeySchema | undefined): unknown => {
    const expanded = text.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
      const value = environment[name]
      if (value !== undefined && (value !== '' || fallback === undefined)) return value
      if (fallback === undefined) mistakes.push(`${at}: the environment has no ${name}`)
      // What is left is told once: an address without its host would be another mistake.
      return fallback ?? whole
    })
    // The text is not repeated: it may be an address.
    if (text.replace(VARIABLE, '').includes('${')) mistakes.push(`${at}: ${MALFORMED}`)
    return expanded === text ? text : textToValue(expected, expanded)
  }
  return expand(table, '', schema) as RawTable
}
