export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/**
 * `host:port` of a NATS server, with or without `nats://`. IPv6 addresses stand in brackets.
 * @returns undefined for anything else, such as an address with a user, a password or a path.
 */
export function parseServerAddress(text: string): ServerAddress | undefined {
  const found = /^(?:nats:\/\/)?(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(text)
  const port = Number(found?.[2])
  if (found === null || port < 1 || port > 65_535) return undefined
  return { host: found[1]!.replace(/^\[|\]$/g, ''), port }
}
