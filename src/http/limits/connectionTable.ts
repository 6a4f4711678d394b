import { createReadStream } from 'node:fs'
import type { IpAddress } from './ipAddress.js'

/** Both belong to this process's network namespace. IPv6 sockets list their IPv4 clients in the second one. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

const PIECE_BYTES = 65_536
/** No line of a table is longer. */
const LINE_BYTES = 512

const ADDRESS_DIGITS = 32

/**
 * The other ends of all connections to a port of this machine, each as often as it is connected, as the kernel lists them:
 * uWebSockets.js does not tell who has left. It is read in pieces, so that it holds up nobody.
 * @param visit called with the address in hexadecimal, as the kernel writes it (`addressOf`).
 * @returns whether there is such a list.
 */
export async function eachConnection(
  port: number,
  visit: (hex: string) => void,
  tables: readonly string[] = TABLES,
): Promise<boolean> {
  const digits = port.toString(16).toUpperCase().padStart(4, '0')
  // Established, or closed by the client only: what a process has a descriptor for.
  const line = new RegExp(`: [0-9A-F]+:${digits} ([0-9A-F]+):[0-9A-F]{4} 0[18] `, 'g')
  /** The kernel lists some twice where others come while it is read, up to a third of all. */
  const seen = new Set<string>()
  let hasList = false
  for (const table of tables)
    try {
      let rest = ''
      for await (const piece of createReadStream(table, { encoding: 'latin1', highWaterMark: PIECE_BYTES })) {
        const text = rest + String(piece)
        const end = text.lastIndexOf('\n') + 1
        for (const [pair, hex] of text.slice(0, end).matchAll(line))
          if (!seen.has(pair)) {
            seen.add(pair)
            visit(hex!)
          }
        rest = text.slice(end).slice(-LINE_BYTES)
      }
      hasList = true
    } catch {
      // Another system, or a kernel without IPv6.
    }
  return hasList
}

/** @param hex 8 or 32 digits. The kernel writes words of 32 bits in the machine's order, which is little-endian wherever this runs. */
export function addressOf(hex: string): IpAddress {
  const mapped = hex.length === ADDRESS_DIGITS ? hex : `0000000000000000FFFF0000${hex}`
  const bytes = Buffer.from(mapped, 'hex')
  return new Uint8Array(bytes.swap32())
}
