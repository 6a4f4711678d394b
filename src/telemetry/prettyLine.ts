const COLOURS: Readonly<Record<string, string>> = { error: '31', warn: '33', info: '32', debug: '90' }

/**
 * One JSON log line as a person reads it on a terminal: time, level, text, fields. Stacks go below.
 * A line that is not JSON comes back as it was.
 */
export function prettyLine(line: string): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  const { ts, level, msg, error, ...fields } = record
  const time = String(ts ?? '').slice(11, 23)
  const name = String(level ?? '')
  const tail = Object.entries(fields).map(([key, value]) => `${key}=${asText(value)}`)
  const trouble = error === undefined ? '' : `\n  ${errorText(error)}`
  return `${time} \u001b[${COLOURS[name] ?? '0'}m${name.padEnd(5)}\u001b[0m ${[String(msg ?? ''), ...tail].join(' ')}${trouble}\n`
}

function asText(value: unknown): string {
  return typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value)
}

function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { stack, name, message, cause } = error as Record<string, unknown>
  const text =
    typeof stack === 'string' ? stack.replaceAll('\n', '\n  ') : `${String(name)}: ${String(message)}`
  return cause === undefined ? text : `${text}\n  caused by ${errorText(cause)}`
}
