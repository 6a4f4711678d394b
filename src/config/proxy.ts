import { BlockList, isIP } from 'node:net'
import { ConfigError } from './configError.js'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Finds the proxy through which an address is reached, by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (or their names in lower
 * case) and the rules of curl and Go: `wss` counts as `https`, and this machine is never reached through a proxy.
 * @returns undefined for none. The result is secret: it may hold a password.
 * @throws ConfigError when a variable does not name a usable proxy.
 */
export function proxyFor(url: string, environment: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const isTls = protocol === 'https:' || protocol === 'wss:'
  const name = isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const value = setting(name, environment)
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (value === undefined || isLoopback(host)) return undefined
  if (isExempt(host, port || (isTls ? '443' : '80'), setting('NO_PROXY', environment) ?? '')) return undefined
  const proxy = value.includes('://') ? value : `http://${value}`
  const scheme = URL.canParse(proxy) ? new URL(proxy).protocol : undefined
  if ((scheme !== 'http:' && scheme !== 'https:') || !namesHost(proxy))
    throw new ConfigError([`${name} is not an http:// or https:// address of a proxy`])
  if (!hasReadableCredentials(proxy))
    throw new ConfigError([`the user or password in ${name} is not percent-encoded: % is %25`])
  return proxy
}

/** Whether an address names a host. `URL` takes the first part of the path for it where it names none: `http:///path`. */
export function namesHost(address: string): boolean {
  return /^[a-z]+:\/\/[^/]/i.test(address.trim())
}

/** Whether user and password of an address can be decoded. @param address that `URL` can parse. */
export function hasReadableCredentials(address: string): boolean {
  const { username, password } = new URL(address)
  try {
    for (const part of [username, password]) decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

function setting(name: string, environment: Environment): string | undefined {
  const value = environment[name.toLowerCase()]?.trim() || environment[name]?.trim()
  return value === '' ? undefined : value
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || contains(loopback, host)
}

function contains(list: BlockList, host: string): boolean {
  const version = isIP(host)
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6')
}

/** @param exempt value of `NO_PROXY`: names (with all their subdomains), addresses and ranges, each with or without a port, or `*`. */
function isExempt(host: string, port: string, exempt: string): boolean {
  for (const entry of exempt.toLowerCase().split(/[\s,]+/)) {
    if (entry === '*') return true
    const [, name = '', onlyPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [entry, entry]
    if (onlyPort !== undefined && onlyPort !== port) continue
    const pattern = name.replace(/^\[|\]$/g, '')
    const suffix = pattern.replace(/^\*?\.?/, '').replace(/\.$/, '')
    if (suffix === '') continue
    if (isIP(host) > 0 ? isInRange(host, pattern) : host === suffix || host.endsWith(`.${suffix}`))
      return true
  }
  return false
}

function isInRange(host: string, range: string): boolean {
  const [address = '', prefix] = range.split('/')
  const version = isIP(address)
  const most = version === 4 ? 32 : 128
  const bits = prefix === undefined ? most : Number(prefix)
  if (version === 0 || !Number.isInteger(bits) || bits < 0 || bits > most) return false
  const list = new BlockList()
  list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6')
  return contains(list, host)
}
