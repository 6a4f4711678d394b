import { UsageError } from './verb.js'

/**
 * Reads a flag that is a whole number from 0 to `most`.
 * @param fallback value of a flag that was not given; undefined = the flag is required.
 * @throws UsageError
 */
export function readNumber(
  values: Readonly<Record<string, string | undefined>>,
  flag: string,
  fallback: number | undefined,
  most: number,
): number {
  const text = values[flag]
  if (text === undefined && fallback !== undefined) return fallback
  if (text === undefined) throw new UsageError(`--${flag} is missing`)
  if (!/^(?:0|[1-9]\d{0,9})$/.test(text) || Number(text) > most)
    throw new UsageError(`--${flag} ${text} is not a number from 0 to ${most}`)
  return Number(text)
}
