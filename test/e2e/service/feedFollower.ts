import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { EventClient, type ReadEvent, SocketClient } from '../../support/eventClient.js'

/** What follows from the feeds, or stands in the lists, of all networks. */
interface Holdings {
  /** `network:deposit count` → transaction and amount. */
  readonly bridges: Map<string, string>
  /** `network source:deposit count`, in force → block, transaction and global index. */
  readonly claims: Map<string, { readonly block: number; readonly text: string }>
  /** `source:deposit count`, of those to networks that are served. */
  readonly claimable: Map<string, number>
}

type Data = ReadEvent['data']

const PROTOCOLS = { stream: EventClient, socket: SocketClient } as const

/** A user who reads the lists once, and then holds what the events say, over connections and services that end at any moment. */
export class FeedFollower {
  readonly holdings: Holdings = { bridges: new Map(), claims: new Map(), claimable: new Map() }
  /** Networks that nothing may be relied on of, with the reasons. */
  readonly #halts = new Map<number, Set<string>>()
  /** As `network reason`: those under which the lists were read, which call nothing ready then. */
  readonly #readUnder = new Set<string>()
  readonly #nextPort: () => number
  readonly #networks: readonly number[]
  readonly #protocol: keyof typeof PROTOCOLS
  #positions = new Map<string, { readonly feed: string; readonly sequence: number }>()
  #client: EventClient | SocketClient | undefined
  #isEnded = false
  rereads = 0
  connects = 0
  events = 0

  /** @param nextPort of the service that it connects to next. */
  constructor(nextPort: () => number, networks: readonly number[], protocol: keyof typeof PROTOCOLS) {
    this.#nextPort = nextPort
    this.#networks = networks
    this.#protocol = protocol
  }

  /** Follows until `end`. @throws when an event is missing or comes twice. */
  async follow(): Promise<void> {
    let isToRead = true
    while (!this.#isEnded) {
      try {
        if (isToRead) await this.#readLists()
        isToRead = false
        const client = await PROTOCOLS[this.#protocol].open(this.#nextPort(), '', this.position)
        // A stream that is refused is an answer with another status, a socket an error.
        isToRead = 'response' in client && client.response.statusCode === 410
        if ('response' in client && client.response.statusCode !== 200) client.close()
        this.#client = client
        this.connects++
        for (let at = 0; !client.isEnded || at < client.events.length; ) {
          const event = client.events[at]
          if (event === undefined) await delay(2)
          else {
            at++
            if (!this.#take(event)) continue
            isToRead = true
            client.close()
            break
          }
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        if (/410/.test(String(error))) isToRead = true
        await delay(10)
      }
    }
  }

  /** Loses its connection, with what was on its way. */
  break(): void {
    this.#client?.close()
  }

  end(): void {
    this.#isEnded = true
    this.break()
  }

  get position(): string {
    return [...this.#positions]
      .map(([network, { feed, sequence }]) => `${network}.${feed}:${sequence}`)
      .join()
  }

  /** Whether something stands in the way of all that is claimable on this network: on the L1, of everything. */
  isHalted(network: number): boolean {
    return [0, network].some((each) => (this.#halts.get(each)?.size ?? 0) > 0)
  }

  /** Each as `network reason`, but for what `/sync-status` has no name for. */
  get halts(): readonly string[] {
    return haltLines(this.#halts).filter((line) => !line.endsWith(' catching_up'))
  }

  async #readLists(): Promise<void> {
    const { position, holdings, halts } = await readListsInStep(this.#nextPort(), this.#networks)
    this.rereads++
    this.#readUnder.clear()
    for (const [network, reasons] of halts) {
      this.#halts.set(network, new Set(reasons))
      for (const reason of reasons) this.#readUnder.add(`${network} ${reason}`)
    }
    for (const name of ['bridges', 'claims', 'claimable'] as const) {
      const rows: Map<string, unknown> = this.holdings[name]
      rows.clear()
      for (const [key, row] of holdings[name]) rows.set(key, row)
    }
    this.#positions = new Map(
      position.split(',').map((text) => {
        const [, network, feed, sequence] = /^(\d+)\.([0-9a-f]+):(\d+)$/.exec(text)!
        return [network!, { feed: feed!, sequence: Number(sequence) }]
      }),
    )
  }

  /** @returns whether the lists must be read. */
  #take({ id, data }: ReadEvent): boolean {
    this.events++
    const [, network, feed, sequence] = /^(\d+)\.([0-9a-f]+):(\d+)$/.exec(String(data.id))!
    const before = this.#positions.get(network!)!
    assert.deepEqual(
      [feed, Number(sequence)],
      [before.feed, before.sequence + 1],
      `${data.id} behind ${this.position}`,
    )
    this.#positions.set(network!, { feed: feed!, sequence: Number(sequence) })
    assert.equal(id, this.position, 'the place behind the event')
    const { bridges, claims, claimable } = this.holdings
    const deposit = `${String(data.origin_network)}:${String(data.deposit_count)}`
    switch (data.type) {
      case 'bridge':
        bridges.set(`${network}:${String(data.deposit_count)}`, bridgeText(data))
        break
      case 'claim':
        if (data.in_force === true) claims.set(`${network} ${deposit}`, claimRow(data))
        else claims.delete(`${network} ${deposit}`)
        claimable.delete(deposit)
        break
      case 'claimable':
        claimable.set(deposit, Number(network))
        break
      case 'unclaimable':
        claimable.delete(deposit)
        break
      case 'reorg': {
        for (const key of bridges.keys()) {
          const [of, count] = key.split(':')
          if (of === network && Number(count) >= Number(data.deposit_count)) bridges.delete(key)
        }
        if (data.is_cut === true) break
        const ancestor = (data.ancestor_block as number | null) ?? -1
        for (const [key, { block }] of claims)
          if (key.startsWith(`${network} `) && block > ancestor) claims.delete(key)
        break
      }
      case 'start_over':
        return true
      case 'halted':
        this.#halts.set(
          Number(network),
          (this.#halts.get(Number(network)) ?? new Set()).add(String(data.reason)),
        )
        break
      case 'resumed':
        this.#halts.get(Number(network))?.delete(String(data.reason))
        return this.#readUnder.has(`${network} ${String(data.reason)}`)
      case 'sync':
        return data.is_history === true
    }
    return false
  }
}

const bridgeText = (row: Data): string => `${String(row.tx_hash)} ${String(row.amount)}`

const claimRow = (row: Data) => ({
  block: row.block_number as number,
  text: `${String(row.tx_hash)} ${String(row.global_index)}`,
})

/** Halts that `/sync-status` tells under the names that events have. */
const HALTS = ['behind', 'emergency_state']

/** Each as `network reason`. */
export const haltLines = (halts: ReadonlyMap<number, Iterable<string>>): string[] =>
  [...halts].flatMap(([network, reasons]) => [...reasons].map((reason) => `${network} ${reason}`)).sort()

/**
 * Before the service has seen a network's head again after a start, the lists call no deposit to it ready. It may start anew between two
 * answers, and what holds may end between them: so the status is asked for before and behind the lists.
 */
async function readListsInStep(port: number, networks: readonly number[]): ReturnType<typeof readLists> {
  const before = await readStatus(port)
  const lists = await readLists(port, networks)
  const after = await readStatus(port)
  if ([before, after].some((status) => status.networks.some(({ is_synced }) => !is_synced)))
    throw new Error('not in step')
  if (haltLines(haltsOf(before)).join() !== haltLines(lists.halts).join())
    throw new Error('a halt came or went')
  return lists
}

interface SyncStatus {
  readonly networks: readonly {
    readonly network_id: number
    readonly is_synced: boolean
    readonly halted: string | null
    readonly reasons?: readonly string[]
  }[]
}

async function readStatus(port: number): Promise<SyncStatus> {
  const response = await fetch(`http://127.0.0.1:${port}/bridge/v1/sync-status`)
  return (await response.json()) as SyncStatus
}

const haltsOf = ({ networks }: SyncStatus): ReadonlyMap<number, readonly string[]> =>
  new Map(
    networks.map(({ network_id, halted, reasons = [] }) => [
      network_id,
      [...(halted === null ? [] : [halted]), ...reasons.filter((reason) => HALTS.includes(reason))],
    ]),
  )

/** What the lists say, what stands in the way of claims, and where the feeds were before. */
export async function readLists(
  port: number,
  networks: readonly number[],
): Promise<{
  readonly position: string
  readonly holdings: Holdings
  readonly halts: ReadonlyMap<number, readonly string[]>
}> {
  let position = ''
  const list = async (path: string, name: string): Promise<readonly Data[]> => {
    const response = await fetch(`http://127.0.0.1:${port}/bridge/v1/${path}&page_size=1000`)
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
    position ||= response.headers.get('x-feed-position') ?? ''
    const body = (await response.json()) as Record<string, readonly Data[]>
    return body[name]!
  }
  const holdings: Holdings = { bridges: new Map(), claims: new Map(), claimable: new Map() }
  for (const network of networks) {
    for (const row of await list(`bridges?network_id=${network}`, 'bridges')) {
      const deposit = `${network}:${String(row.deposit_count)}`
      holdings.bridges.set(deposit, bridgeText(row))
      if (row.ready_for_claim === true) holdings.claimable.set(deposit, row.destination_network as number)
    }
    for (const row of await list(`claims?network_id=${network}`, 'claims'))
      holdings.claims.set(
        `${network} ${String(row.origin_network)}:${String(row.deposit_count)}`,
        claimRow(row),
      )
  }
  return { position, holdings, halts: haltsOf(await readStatus(port)) }
}
