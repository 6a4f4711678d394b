import { configKeys } from '../../config/configKeys.js'
import { isConfigured, loadConfig } from '../../config/load.js'
import { readNumber } from './readNumber.js'
import { UsageError } from './verb.js'

type Values = Readonly<Record<string, string | undefined>>

/**
 * Where the service of a configuration listens, as its own machine reaches it. Where nothing is configured: where a
 * service listens by default, or by the flags.
 * @param section of the API, or of metrics and probes.
 * @throws UsageError when the port is whatever was free; ConfigError.
 */
export function configuredUrl(section: 'http' | 'ops', values: Values): string {
  const { host, port } = isConfigured(values.config)
    ? loadConfig({ file: values.config, flags: values }).config[section]
    : unconfigured(section, values)
  if (port === 0) throw new UsageError(`${section}.port is 0, any free port: say --url`)
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

function unconfigured(section: 'http' | 'ops', values: Values): { host: string; port: number } {
  const fallback = (key: string): unknown =>
    configKeys.find(({ name }) => name === `${section}.${key}`)?.schema.default
  return {
    host: values[`${section}-host`] ?? String(fallback('host')),
    port: readNumber(values, `${section}-port`, Number(fallback('port')), 65_535),
  }
}
