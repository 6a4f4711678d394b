import { configKeys } from '../../config/configKeys.js'
import { endpointName } from '../../config/endpointName.js'
import { isConfigured, loadConfig } from '../../config/load.js'
import { readNumber } from './readNumber.js'
import { UsageError } from './verb.js'

type Values = Readonly<Record<string, string | undefined>>

/**
 * The URL at which this machine reaches the service of a configuration. Without a configuration: the default address, or that
 * of the flags.
 * @param section `http` for the API, `ops` for metrics and probes.
 * @throws UsageError when the port is 0, which is any free port. @throws ConfigError.
 */
export function configuredUrl(section: 'http' | 'ops', values: Values): string {
  const { host, port } = isConfigured(values.config)
    ? loadConfig({ file: values.config, flags: values }).config[section]
    : unconfigured(section, values)
  if (port === 0) throw new UsageError(`${section}.port is 0, which is any free port: use --url`)
  return reachableUrl(host, port)
}

/** The URL at which this machine reaches what listens there. */
export function reachableUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** What the configuration calls endpoints, by the names that the public is told; empty without a configuration. @throws ConfigError. */
export function configuredAliases(values: Values): ReadonlyMap<string, string> {
  if (!isConfigured(values.config)) return new Map()
  const { networks } = loadConfig({ file: values.config, flags: values }).config
  return new Map(
    networks.flatMap(({ networkId, rpc }) =>
      rpc.flatMap(({ alias }, position) => {
        const name = endpointName(networkId, position)
        return alias === name ? [] : [[name, alias]]
      }),
    ),
  )
}

function unconfigured(section: 'http' | 'ops', values: Values): { host: string; port: number } {
  const fallback = (key: string): unknown =>
    configKeys.find(({ name }) => name === `${section}.${key}`)?.schema.default
  return {
    host: values[`${section}-host`] ?? String(fallback('host')),
    port: readNumber(values, `${section}-port`, Number(fallback('port')), 65_535),
  }
}
