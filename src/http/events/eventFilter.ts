import type { NetworkId } from '../../protocol/units.js'
import type { EventsQuery } from '../../query/feed/eventsQuery.js'
import type { FeedEventType } from '../../query/feed/feedRecords.js'

/** What filters look at, under the names of the wire. Each event has some of these. */
interface EventFacts {
  readonly type: FeedEventType
  readonly origin_network?: number
  readonly deposit_count?: number
  readonly destination_network?: number
  readonly [name: string]: unknown
}

/** Fields that hold addresses, of all events. */
const ADDRESS_FIELDS = [
  'origin_address',
  'destination_address',
  'tx_sender',
  'from_address',
  'token_address',
  'origin_token_address',
  'wrapped_token_address',
] as const

/** By what an event of a deposit, a claim or a token can be asked for. */
interface Subject {
  /** `network:deposit count`. */
  readonly bridge: string | undefined
  readonly destination: number
  /** In small letters. */
  readonly addresses: readonly string[]
}

/** What readers at one place are sent. */
interface Told {
  readonly ids: string
  readonly text: string
}

/** One event on its way to all who have asked for it. */
export class ToldEvent {
  readonly networkId: NetworkId
  readonly sequence: number
  readonly type: FeedEventType
  /** JSON. */
  readonly text: string
  /** undefined: it is about the network as a whole. */
  readonly subject: Subject | undefined
  #frame: Told | undefined
  #message: Told | undefined

  /** @param line as `writeFeedPage` writes it. */
  constructor(networkId: NetworkId, line: string) {
    const at = line.indexOf('{')
    this.networkId = networkId
    this.sequence = Number(line.slice(0, at))
    this.text = line.slice(at)
    const told = JSON.parse(this.text) as EventFacts
    this.type = told.type
    this.subject = subjectOf(networkId, told)
  }

  /** The event as Server-Sent Events have it. @param ids where its reader is behind it; most readers have the same. */
  frame(ids: string): string {
    if (this.#frame?.ids !== ids)
      this.#frame = { ids, text: `id: ${ids}\nevent: ${this.type}\ndata: ${this.text}\n\n` }
    return this.#frame.text
  }

  /** The event as a WebSocket has it. @param ids as of `frame`. */
  message(ids: string): string {
    if (this.#message?.ids !== ids)
      this.#message = { ids, text: `{"position":"${ids}","event":${this.text}}` }
    return this.#message.text
  }

  /** Under which keys its readers may be found: `EventFilter.keys`. */
  *keys(): Generator<string> {
    const { subject } = this
    if (subject === undefined) return
    if (subject.bridge !== undefined) yield `bridge ${subject.bridge}`
    for (const address of subject.addresses) yield `address ${address}`
    yield `destination ${subject.destination}`
  }
}

function subjectOf(networkId: NetworkId, told: EventFacts): Subject | undefined {
  const { type, deposit_count: count } = told
  if (type === 'token_mapping')
    return { bridge: undefined, destination: networkId, addresses: addressesOf(told) }
  const isBridge = type === 'bridge'
  if (!isBridge && told.origin_network === undefined) return undefined
  return {
    bridge: `${isBridge ? networkId : told.origin_network}:${count}`,
    destination: isBridge ? told.destination_network! : networkId,
    addresses: addressesOf(told),
  }
}

function addressesOf(told: EventFacts): string[] {
  return ADDRESS_FIELDS.map((name) => told[name])
    .filter((value) => typeof value === 'string')
    .map((value) => value.toLowerCase())
}

/** Which events one reader gets. */
export class EventFilter {
  readonly networkIds: readonly NetworkId[]
  /** The event of one deposit, claim or token that passes has one of these keys; undefined: any may. */
  readonly keys: readonly string[] | undefined
  readonly #types: ReadonlySet<FeedEventType> | undefined
  readonly #bridge: string | undefined
  readonly #addresses: ReadonlySet<string> | undefined
  readonly #destinations: ReadonlySet<number> | undefined

  constructor(query: EventsQuery, served: readonly NetworkId[]) {
    const { networkIds, types, bridge, addresses, destinationNetworks } = query
    this.networkIds = networkIds ?? served
    this.#types = types && new Set(types)
    this.#bridge = bridge && `${bridge.networkId}:${bridge.depositCount}`
    this.#addresses = addresses && new Set(addresses)
    this.#destinations = destinationNetworks && new Set(destinationNetworks)
    if (this.#bridge !== undefined) this.keys = [`bridge ${this.#bridge}`]
    else if (this.#addresses !== undefined)
      this.keys = [...this.#addresses].map((address) => `address ${address}`)
    else this.keys = destinationNetworks?.map((network) => `destination ${network}`)
  }

  /** @param event of one of `networkIds`. */
  passes({ type, subject }: ToldEvent): boolean {
    if (this.#types !== undefined && !this.#types.has(type)) return false
    if (subject === undefined) return true
    if (this.#bridge !== undefined && this.#bridge !== subject.bridge) return false
    if (this.#destinations !== undefined && !this.#destinations.has(subject.destination)) return false
    return this.#addresses === undefined || subject.addresses.some((address) => this.#addresses!.has(address))
  }
}
