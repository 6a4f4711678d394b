import { loadConfig } from '../config/load.js'
import { UsageError } from './arguments.js'

/**
 * Where the service of a configuration listens, as its own machine reaches it.
 * @param section of the API, or of metrics and probes.
 * @throws UsageError when the port is whatever was free; ConfigError.
 */
export function configuredUrl(
  section: 'http' | 'ops',
  values: Readonly<Record<string, string | undefined>>,
): string {
  const { host, port } = loadConfig({ file: values.config, flags: values }).config[section]
  if (port === 0) throw new UsageError(`${section}.port is 0, any free port: say --url`)
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
