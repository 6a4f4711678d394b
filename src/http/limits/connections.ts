import type { ConnectionRefusal } from '../../telemetry/frontCounts.js'
import type { ConnectionWatch, Peer } from '../wire/wire.js'
import { clientName, siteName } from './client.js'
import { addressOf, eachConnection } from './connectionTable.js'
import { type AddressRanges, type IpAddress, ipOfPeer } from './ipAddress.js'

export interface ConnectionLimits {
  /** Most connections of this server; `Infinity` = no limit. */
  readonly max: number
  /** Most connections of one address, of all servers on the port, while more than half of `max` are taken; 0 = no limit. */
  readonly maxPerAddress: number
  /** The same of an IPv6 site (/48), which has 65,536 addresses as we count them. */
  readonly maxPerSite: number
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
  /** Of one address, and of one site: in the order of `namesOf`. */
  private readonly shares: readonly [perAddress: number, perSite: number]
  private readonly isExempt: AddressRanges['has']
  private readonly onRefused: (reason: ConnectionRefusal) => void
  private readonly now: () => number
  private readonly list: typeof eachConnection
  private count = 0
  /** Names of addresses and sites that have more than their share. */
  private crowd = new Set<string>()
  /** Connections by address and by site at the last look, and those that came since. */
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
    { max, maxPerAddress, maxPerSite }: ConnectionLimits,
    isExempt: AddressRanges['has'],
    onRefused: (reason: ConnectionRefusal) => void,
    now: () => number = () => performance.now(),
    list: typeof eachConnection = eachConnection,
  ) {
    this.max = max
    this.shares = [maxPerAddress, maxPerSite]
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
    const names = this.namesOf(ipOfPeer(peer.getRemoteAddress()))
    if (names.some((name) => this.crowd.has(name))) return this.refused('max_connections_per_address')
    for (const [at, name] of names.entries()) this.countOne(name, this.shares[at]!)
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
    const names = this.namesOf(ipOfPeer(peer.getRemoteAddress()))
    if (!names.some((name) => this.crowd.has(name))) return false
    this.onRefused('max_connections_per_address')
    return true
  }

  /**
   * Called many times a second: looks at who is connected where connections run short.
   * @param ports the server's. @returns whether they run short.
   */
  watch(...ports: readonly number[]): boolean {
    if (this.count <= this.max / 2) {
      if (!this.isLooking) this.forget()
      return false
    }
    if (this.shares[0] === 0 || this.isLooking || this.now() < this.looksAtMs) return true
    this.isLooking = true
    void this.lookAt(ports).finally(() => {
      this.isLooking = false
    })
    return true
  }

  private forget(): void {
    if (this.byName.size === 0) return
    this.byName = new Map()
    this.crowd = new Set()
  }

  private async lookAt(ports: readonly number[]): Promise<void> {
    const startedAtMs = this.now()
    const byHex = new Map<string, number>()
    let hasList = true
    for (const port of ports)
      hasList = (await this.list(port, (hex) => byHex.set(hex, (byHex.get(hex) ?? 0) + 1))) && hasList
    const byName = new Map<string, number>()
    const crowd = new Set<string>()
    for (const [hex, connected] of byHex)
      for (const [at, name] of this.namesOf(addressOf(hex)).entries()) {
        const sum = (byName.get(name) ?? 0) + connected
        byName.set(name, sum)
        if (sum >= this.shares[at]!) crowd.add(name)
      }
    this.byName = byName
    this.left = 0
    this.crowd = crowd
    const tookMs = this.now() - startedAtMs
    this.looksAtMs = this.now() + (hasList ? Math.max(LOOK_EVERY_MS, LOOK_SHARE * tookMs) : LOOK_AGAIN_MS)
  }

  private refused(reason: ConnectionRefusal): false {
    // It ends at once, and never was among those of its address.
    this.left--
    this.onRefused(reason)
    return false
  }

  /** Counts one that comes between two looks. One that was not connected at the last look is far from its share. */
  private countOne(name: string, share: number): void {
    const known = this.byName.get(name)
    if (known === undefined) return
    this.byName.set(name, known + 1)
    // Who makes a connection for each request has few at a time: all that have ended may have been his.
    if (known + 1 - this.left >= share) this.crowd.add(name)
  }

  /** @returns the names of address and site; none for an exempt address, whose neighbours may have more than their share. */
  private namesOf(address: IpAddress): string[] {
    if (this.isExempt(address)) return []
    const site = siteName(address)
    return site === undefined ? [clientName(address)] : [clientName(address), site]
  }
}
