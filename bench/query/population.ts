import { createHash } from 'node:crypto'
import type { DepositEvent, Sender, WrappedTokenEvent } from '../../src/protocol/chainEvent.js'
import { asNetworkId } from '../../src/protocol/units.js'

type Transfer = Pick<
  DepositEvent,
  | 'leafType'
  | 'originNetwork'
  | 'originAddress'
  | 'destinationNetwork'
  | 'destinationAddress'
  | 'amount'
  | 'metadata'
  | 'sender'
>

const TOKENS = 200
/** The busiest sender's share of all bridges, and one sponsor's share of all claims. */
const BUSIEST = 0.05
const SPONSORED = 0.5
const NO_BYTES = new Uint8Array(0)
const ETHER = new Uint8Array(20)
/** Layer 2s; all but the last are indexed. */
const DESTINATIONS: readonly (readonly [networkId: number, upTo: number])[] = [
  [1, 0.55],
  [2, 0.8],
  [3, 0.95],
  [77, 1],
]

/**
 * Decides who bridges what to where. One sender makes 5 % of all bridges, and the shares of the others fall as a power of their
 * rank. Three of five bridges are ether without metadata, one of ten is a message, the rest are one of 200 tokens with the usual
 * 224 bytes of metadata.
 */
export class Population {
  readonly busiest = addressOf('busiest')
  readonly sponsor = addressOf('sponsor')
  readonly absent = addressOf('absent')
  private readonly users: readonly Uint8Array[]
  private readonly tokens = Array.from({ length: TOKENS }, (_, at) => addressOf(`token ${at}`))
  private readonly metadata = Array.from({ length: TOKENS }, (_, at) => tokenMetadata(at))
  private state = 1

  constructor(bridges: number) {
    const users = Math.max(50, Math.floor(bridges / 10))
    this.users = Array.from({ length: users }, (_, at) => addressOf(`user ${at}`))
  }

  /** 0 … 1, the same on every run (mulberry32). */
  chance(): number {
    this.state = (this.state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A user; those of low rank are the busiest. */
  user(rank: number): Uint8Array {
    return this.users[Math.min(rank, this.users.length - 1)]!
  }

  transfer(): Transfer {
    const caller = this.chance() < BUSIEST ? this.busiest : this.anyUser()
    const sender: Sender = { caller, transactionSender: caller }
    const where = this.chance()
    const kind = this.chance()
    const token = Math.floor(TOKENS * this.chance() ** 2)
    const isMessage = kind >= 0.9
    return {
      leafType: isMessage ? 1 : 0,
      originNetwork: asNetworkId(0),
      originAddress: isMessage ? caller : kind < 0.6 ? ETHER : this.tokens[token]!,
      destinationNetwork: asNetworkId(DESTINATIONS.find(([, upTo]) => where < upTo)![0]),
      destinationAddress: this.chance() < 0.7 ? caller : this.anyUser(),
      amount: BigInt(1 + Math.floor(this.chance() * 1e9)) * 10n ** BigInt(Math.floor(this.chance() * 12)),
      metadata: isMessage ? this.message() : kind < 0.6 ? NO_BYTES : this.metadata[token]!,
      sender,
    }
  }

  claimer(receiver: Uint8Array): Sender {
    const caller = this.chance() < SPONSORED ? this.sponsor : receiver
    return { caller, transactionSender: caller }
  }

  mappings(): Omit<WrappedTokenEvent, 'blockNumber' | 'logIndex' | 'transactionHash'>[] {
    return this.tokens.map((token, at) => ({
      type: 'wrappedToken',
      originNetwork: asNetworkId(0),
      originTokenAddress: token,
      wrappedTokenAddress: addressOf(`wrapped ${at}`),
      metadata: this.metadata[at]!,
    }))
  }

  private anyUser(): Uint8Array {
    return this.users[Math.floor(this.users.length * this.chance() ** 3)]!
  }

  /** Half of the messages repeat an earlier one. */
  private message(): Uint8Array {
    const text = this.chance() < 0.5 ? `common ${Math.floor(this.chance() * 100)}` : `own ${this.state}`
    return new Uint8Array(createHash('sha512').update(text).digest())
  }
}

/** abi.encode(name, symbol, decimals). */
function tokenMetadata(at: number): Uint8Array {
  const bytes = Buffer.alloc(224)
  bytes[31] = 0x60
  bytes[63] = 0xa0
  bytes[95] = 18
  bytes[127] = bytes.write(`Token number ${at}`, 128)
  bytes[191] = bytes.write(`TK${at}`, 192)
  return new Uint8Array(bytes)
}

function addressOf(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest().subarray(0, 20))
}
