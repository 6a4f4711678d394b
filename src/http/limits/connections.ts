import type { ConnectionRefusal } from '../../telemetry/frontCounts.js'
import type { ConnectionWatch, Peer } from '../wire/wire.js'
import { clientName } from './client.js'
import { addressOf, eachConnection } from './connectionTable.js'
import { type AddressRanges, ipOfPeer } from './ipAddress.js'

export interface ConnectionLimits {
  /** Most connections of this server; `Infinity` = no limit. */
  readonly max: number
  /** Most connections of one address, of all servers on the port, while more than half of `max` are taken; 0 = no limit. */
  readonly maxPerAddress: number
}

/** Time between two looks at who is connected, and how much longer than the look itself it is at least. */
const LOOK_EVERY_MS = 1_000
const LOOK_SHARE = 20
/** Time until the next look where there was no list: perhaps there was only no descriptor to read it. */
const LOOK_AGAIN_MS = 60_000

/**
 * How many connections there are, and who has too many. Nobody is asked for his address while half of the connections are free: the
 * limit of one address holds only while they run short.
 */
export class Connections implements ConnectionWatch {
  readonly max: number
  private readonly maxPerAddress: number
  private readonly isExempt: AddressRanges['has']
  private readonly onRefused: (reason: ConnectionRefusal) => void
  private readonly now: () => number
  private readonly list: typeof eachConnection
  private count = 0
  /** Names of addresses that have more than their share. */
  private crowd = new Set<string>()
  /** Connections by address at the last look, and those that came since. */
  private byName = new Map<string, number>()
  /** Connections that have ended since the last look, whoever's they were: nobody tells the address of one that has gone. */
  private left = 0
  private isLooking = false
  private looksAtMs = 0

  /**
   * @param isExempt whether an address is of a trusted proxy, or of a client that is never limited.
   * @param now milliseconds, @param list what the kernel lists: passed in so that tests control them.
   */
  constructor(
    { max, maxPerAddress }: ConnectionLimits,
    isExempt: AddressRanges['has'],
    onRefused: (reason: ConnectionRefusal) => void,
    now: () => number = () => performance.now(),
    list: typeof eachConnection = eachConnection,
  ) {
    this.max = max
    this.maxPerAddress = maxPerAddress
    this.isExempt = isExempt
    this.onRefused = onRefused
    this.now = now
    this.list = list
  }

  /** Connections that are open now. */
  get open(): number {
    return this.count
  }

  arrive(peer: Peer): boolean {
    this.count++
    if (this.count > this.max) return this.refused('max_connections')
    if (this.byName.size === 0) return true
    const name = this.nameOf(peer)
    const known = name === undefined ? undefined : this.byName.get(name)
    // One that was not connected at the last look is far from its share.
    if (name === undefined || known === undefined) return true
    if (this.crowd.has(name)) return this.refused('max_connections_per_address')
    this.byName.set(name, known + 1)
    // Who makes a connection for each request has few at a time: all that have ended may have been his.
    if (known + 1 - this.left >= this.maxPerAddress) this.crowd.add(name)
    return true
  }

  leave(): void {
    this.count--
    this.left++
  }

  recount(open: number): void {
    this.count = open
  }

  refuse(): void {
    this.onRefused('max_connections')
  }

  /** Whether the connection ends with the answer to this request, since its address has more than its share. */
  endsWithAnswer(peer: Peer): boolean {
    if (this.crowd.size === 0) return false
    const name = this.nameOf(peer)
    if (name === undefined || !this.crowd.has(name)) return false
    this.onRefused('max_connections_per_address')
    return true
  }

  /** Called many times a second: looks at who is connected where connections run short. @param port the server's. */
  watch(port: number): void {
    if (this.maxPerAddress === 0 || this.isLooking) return
    if (this.count <= this.max / 2) {
      this.forget()
      return
    }
    if (this.now() < this.looksAtMs) return
    this.isLooking = true
    void this.lookAt(port).finally(() => {
      this.isLooking = false
    })
  }

  private forget(): void {
    if (this.byName.size === 0) return
    this.byName = new Map()
    this.crowd = new Set()
  }

  private async lookAt(port: number): Promise<void> {
    const startedAtMs = this.now()
    const byHex = new Map<string, number>()
    const hasList = await this.list(port, (hex) => byHex.set(hex, (byHex.get(hex) ?? 0) + 1))
    const byName = new Map<string, number>()
    for (const [hex, connected] of byHex) {
      const address = addressOf(hex)
      if (this.isExempt(address)) continue
      const name = clientName(address)
      byName.set(name, (byName.get(name) ?? 0) + connected)
    }
    this.byName = byName
    this.left = 0
    this.crowd = new Set(
      [...byName].filter(([, connected]) => connected >= this.maxPerAddress).map(([name]) => name),
    )
    const tookMs = this.now() - startedAtMs
    this.looksAtMs = this.now() + (hasList ? Math.max(LOOK_EVERY_MS, LOOK_SHARE * tookMs) : LOOK_AGAIN_MS)
  }

  private refused(reason: ConnectionRefusal): false {
    // It ends at once, and never was among those of its address.
    this.left--
    this.onRefused(reason)
    return false
  }

  /** @returns undefined for an exempt address: others of its /64 may have more than their share. */
  private nameOf(peer: Peer): string | undefined {
    const address = ipOfPeer(peer.getRemoteAddress())
    return this.isExempt(address) ? undefined : clientName(address)
  }
}
