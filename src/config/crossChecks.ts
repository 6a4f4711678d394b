import { isIP } from 'node:net'
import { parseServerAddress } from '../cluster/serverAddress.js'
import { parseFinality } from './finalitySetting.js'
import { isTable, type RawTable } from './layers.js'
import { hasReadableCredentials, namesHost } from './proxy.js'
import { readSecret } from './secretFile.js'

/**
 * Finds mistakes that the schema can't express. Values may still have the wrong type, which `validateTable` reports: this way all
 * mistakes of a file are reported at once.
 */
export function crossCheck(table: RawTable): string[] {
  const mistakes: string[] = []
  if (typeof table.data_dir === 'string' && /\p{Cc}/u.test(table.data_dir))
    mistakes.push('data_dir holds a control character')
  const networks = Array.isArray(table.networks) ? table.networks.filter(isTable) : []
  checkNetworkIds(networks, mistakes)
  for (const network of networks) checkNetwork(network, mistakes)
  checkPrimaryNetwork(table.primary_network, networks, mistakes)
  checkServer(table, mistakes)
  if (isTable(table.rate_limit)) checkRateLimit(table.rate_limit, mistakes)
  if (isTable(table.cluster)) mistakes.push(...clusterFaults(table.cluster))
  if (isTable(table.dialects)) checkDialects(table.dialects, mistakes)
  const accent = isTable(table.explorer) ? table.explorer.accent : undefined
  if (typeof accent === 'string' && !/^#[0-9a-f]{6}$/i.test(accent))
    mistakes.push(`explorer.accent is ${JSON.stringify(accent)}; expected #rrggbb`)
  return mistakes
}

const BASE_PATH = /^(\/[A-Za-z0-9._~-]+)+$/
/** What the service answers itself. */
const OWN_PATHS: readonly string[] = ['bridge', 'docs', 'explorer', 'livez', 'openapi.json', 'readyz']

function checkDialects(dialects: RawTable, mistakes: string[]): void {
  const taken = new Map<string, string>()
  for (const [name, dialect] of Object.entries(dialects)) {
    const path = isTable(dialect) ? dialect.base_path : undefined
    if (typeof path !== 'string') continue
    const at = `dialects.${name}.base_path is ${JSON.stringify(path)}`
    if (!BASE_PATH.test(path)) mistakes.push(`${at}; expected /name, without a slash at its end`)
    else if (OWN_PATHS.includes(path.split('/')[1]!))
      mistakes.push(`${at}, which the API itself answers below`)
    else if (taken.has(path)) mistakes.push(`${at}, as dialects.${taken.get(path)}.base_path is`)
    taken.set(path, name)
  }
}

/** The version of an answer has one bit per network, in a double. */
const MAX_NETWORKS = 53

function checkNetworkIds(networks: readonly RawTable[], mistakes: string[]): void {
  if (networks.length > MAX_NETWORKS)
    mistakes.push(`${networks.length} networks, but one instance serves at most ${MAX_NETWORKS}`)
  const ids = networks.map((network) => network.network_id)
  for (const id of new Set(ids)) {
    const count = ids.filter((other) => other === id).length
    if (typeof id === 'number' && count > 1) mistakes.push(`network_id ${id} is used by ${count} networks`)
  }
  if (networks.length > 0 && !ids.includes(0)) mistakes.push('no network has network_id 0 (layer 1)')
}

function checkNetwork(network: RawTable, mistakes: string[]): void {
  const name = `network ${String(network.network_id)}`
  if (network.network_id === 0 && network.rollup_manager === undefined)
    mistakes.push(`${name}: rollup_manager is missing; layer 1 needs it`)
  if (
    typeof network.network_id === 'number' &&
    network.network_id > 0 &&
    network.rollup_manager !== undefined
  )
    mistakes.push(`${name}: rollup_manager belongs to network 0 only`)
  for (const key of ['bridge', 'global_exit_root_manager', 'rollup_manager'])
    if (typeof network[key] === 'string' && /^0x0{40}$/i.test(network[key]))
      mistakes.push(`${name}: ${key} is the zero address`)
  if (typeof network.finality === 'string' && parseFinality(network.finality) === undefined)
    mistakes.push(
      `${name}: finality is ${JSON.stringify(network.finality)}; expected latest, safe, finalized, depth:64 or finalized-64`,
    )
  for (const key of ['explorer_url', 'public_rpc'])
    if (typeof network[key] === 'string' && !isPublicAddress(network[key]))
      mistakes.push(`${name}: ${key} is no http or https address without user, password, query and fragment`)
  if (Array.isArray(network.rpc)) checkEndpoints(name, network.rpc.filter(isTable), mistakes)
}

/** Everybody who opens the page sees it, and its origin stands in a header. */
function isPublicAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  )
}

function checkEndpoints(name: string, endpoints: readonly RawTable[], mistakes: string[]): void {
  const aliases = new Set<unknown>()
  endpoints.forEach((endpoint, position) => {
    const at = `${name}: rpc endpoint ${position}`
    const { alias } = endpoint
    if (alias !== undefined && aliases.has(alias)) mistakes.push(`${at}: another endpoint has the same alias`)
    if (typeof alias === 'string' && alias.includes('://'))
      mistakes.push(`${at}: the alias is an address; use a name, because it appears in logs`)
    aliases.add(alias)
    mistakes.push(...endpointFaults(endpoint).map((fault) => `${at}: ${fault}`))
  })
  for (const needed of ['logs', 'state'])
    if (endpoints.length > 0 && !endpoints.some(({ role = 'all' }) => role === 'all' || role === needed))
      mistakes.push(`${name}: no rpc endpoint has role all or ${needed}`)
}

/** The texts never repeat an address, which may hold a key. */
function endpointFaults(endpoint: RawTable): string[] {
  const hasNoUrl = endpoint.url === undefined && endpoint.url_file === undefined
  return [
    ...(hasNoUrl ? ['needs either url or url_file'] : []),
    ...addressFaults(endpoint, 'url', ['http:', 'https:']),
    ...addressFaults(endpoint, 'ws_url', ['ws:', 'wss:']),
  ]
}

type Protocols = readonly [string, string]

function addressFaults(endpoint: RawTable, key: 'url' | 'ws_url', protocols: Protocols): string[] {
  const { [key]: stated, [`${key}_file`]: file } = endpoint
  const check = (address: string): string[] => {
    const fault = addressFault(address, key, protocols)
    return fault === undefined ? [] : [fault]
  }
  return [
    ...(stated !== undefined && file !== undefined ? [`has both ${key} and ${key}_file`] : []),
    ...(typeof file === 'string' ? fileFaults(`${key}_file ${file}`, readSecret(file), check) : []),
    ...(typeof stated === 'string' ? check(stated) : []),
  ]
}

function fileFaults(
  name: string,
  secret: string | undefined,
  check: (address: string) => string[],
): string[] {
  if (secret === undefined) return [`${name} can't be read`]
  if (secret === '') return [`${name} is empty`]
  return /[\r\n]/.test(secret) ? [`${name} has more than one line`] : check(secret)
}

function addressFault(address: string, key: 'url' | 'ws_url', protocols: Protocols): string | undefined {
  const what = key === 'url' ? 'the address' : key
  // `URL` drops line breaks and tabs, so it would join two lines to an address that is not in the file.
  if (/[\r\n\t]/.test(address.trim())) return `${what} has a line break or a tab in it`
  if (!URL.canParse(address) || !protocols.includes(new URL(address).protocol))
    return `${what} is not one of ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
  if (!namesHost(address)) return `${what} names no host`
  if (key === 'ws_url' && new URL(address).hash !== '') return 'ws_url has a part behind #'
  return hasReadableCredentials(address)
    ? undefined
    : `the user or password in ${what} is not percent-encoded: % is %25`
}

function checkPrimaryNetwork(primary: unknown, networks: readonly RawTable[], mistakes: string[]): void {
  if (typeof primary !== 'number' || networks.some((network) => network.network_id === primary)) return
  mistakes.push(`primary_network ${primary} is not one of the networks`)
}

function checkServer(table: RawTable, mistakes: string[]): void {
  const { http, health } = table
  checkPorts(table, mistakes)
  if (isTable(http) && http.transport === 'node' && typeof http.threads === 'number' && http.threads > 1)
    mistakes.push(`http.threads is ${http.threads}, but node:http can't share a port: http.transport is node`)
  if (isTable(http) && typeof http.cors === 'string' && !isCorsSetting(http.cors))
    mistakes.push(
      `http.cors is ${JSON.stringify(http.cors)}; expected *, off, or an origin like https://example.org`,
    )
  if (!isTable(health)) return
  const { synced_lag_blocks: synced, max_lag_blocks: max } = health
  if (typeof synced === 'number' && typeof max === 'number' && max < synced)
    mistakes.push(`health.max_lag_blocks ${max} is below health.synced_lag_blocks ${synced}`)
}

/** Ports on one host must differ, those of dialects that are switched on among them. */
function checkPorts({ http, ops, dialects }: RawTable, mistakes: string[]): void {
  if (!isTable(http)) return
  const own = Object.entries(isTable(dialects) ? dialects : {}).flatMap(([name, dialect]) =>
    isTable(dialect) && dialect.enabled !== false
      ? [{ key: `dialects.${name}.port`, host: http.host, port: dialect.port }]
      : [],
  )
  const taken: { readonly key: string; readonly host: unknown; readonly port: unknown }[] = []
  for (const one of [
    { key: 'http.port', ...http },
    ...(isTable(ops) ? [{ key: 'ops.port', ...ops }] : []),
    ...own,
  ]) {
    const { key, host, port } = one as (typeof taken)[number]
    const same = taken.find((other) => other.host === host && other.port === port)
    if (typeof port === 'number' && port !== 0 && same !== undefined)
      mistakes.push(`${same.key} and ${key} are both ${port}`)
    taken.push({ key, host, port })
  }
}

function checkRateLimit(limits: RawTable, mistakes: string[]): void {
  for (const key of ['trusted_proxies', 'allow'])
    for (const range of textsOf(limits[key]))
      if (!isAddressRange(range))
        mistakes.push(
          `rate_limit.${key} has ${JSON.stringify(range)}; expected an address or a range like 10.0.0.0/8`,
        )
  // The text never repeats the value, which may be the key itself.
  for (const [position, hash] of textsOf(limits.api_keys).entries())
    if (!/^[0-9a-f]{64}$/i.test(hash))
      mistakes.push(`rate_limit.api_keys[${position}] is not the SHA-256 of a key, 64 hex digits`)
}

/** Of the ways to be known to the servers there can be one. Texts never repeat an address or what stands in a file. */
function clusterFaults(cluster: RawTable): string[] {
  const has = (key: string): boolean => cluster[key] !== undefined
  const servers = textsOf(cluster.servers)
  const ways = ['user', 'nkey_file', 'creds_file'].filter(has)
  const files = ['password_file', 'nkey_file', 'creds_file', 'tls_ca_file', 'tls_cert_file', 'tls_key_file']
  return [
    ...(cluster.replicas === 2 ? ['cluster.replicas is 2; expected 1 or 3'] : []),
    ...servers.flatMap((server, position) =>
      parseServerAddress(server) === undefined
        ? [
            `cluster.servers[${position}] is not host:port, without user, password and path (those stand in files of their own)`,
          ]
        : [],
    ),
    ...(new Set(servers).size < servers.length ? ['cluster.servers names a server twice'] : []),
    ...(ways.length > 1 ? [`cluster has ${ways.join(' and ')}; one is enough`] : []),
    ...(has('user') !== has('password_file')
      ? ['cluster.user and cluster.password_file need each other']
      : []),
    ...(has('tls_cert_file') !== has('tls_key_file')
      ? ['cluster.tls_cert_file and cluster.tls_key_file need each other']
      : []),
    ...(cluster.tls !== true && files.some((key) => key.startsWith('tls_') && has(key))
      ? ['cluster has files for TLS, but cluster.tls is not true']
      : []),
    ...files.flatMap((key) => {
      const file = cluster[key]
      if (typeof file !== 'string') return []
      const read = readSecret(file)
      return read === undefined || read === ''
        ? [`cluster.${key} ${file} ${read === '' ? 'is empty' : "can't be read"}`]
        : []
    }),
  ]
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function isCorsSetting(text: string): boolean {
  return text === '*' || text === 'off' || (URL.canParse(text) && new URL(text).origin === text)
}

/** Whether `text` is an IP address, or one with a prefix length behind it: `10.0.0.0/8`, `fd00::/8`, `192.0.2.7`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
