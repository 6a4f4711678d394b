import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as zlib from 'node:zlib'
import { decodeCommand, encodeCommand } from '../src/log/commandCodec.js'
import { CommandGatherer, commandMessages } from '../src/log/commandMessages.js'
import type { IndexedBlock } from '../src/protocol/chainEvent.js'
import type { RowSender } from '../src/shard/senders.types.js'
import type { ShardCommand } from '../src/shard/shardCommand.types.js'
import { compileMerkleModule, createHasher } from '../src/wasm/wasmModule.js'
import { packedBlocks } from '../test/support/packedBlocks.js'
import { digestTables, openTestShard, type TestShard } from '../test/support/testShard.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { cpuMs } from './micro/race.js'
import { markdownTable } from './micro/report.js'
import { Traffic } from './query/traffic.js'

const values = readOptions({
  size: { type: 'string', default: '300000', help: 'deposits, most of which are claimed' },
  batch: { type: 'string', default: '20000', help: 'events of a command' },
})
const [bridges, batchEvents] = [Number(values.size), Number(values.batch)]

type Kind = 'deposits' | 'claims' | 'senders of deposits' | 'senders of claims'
type Step = 'apply' | 'encode' | 'messages' | 'gather' | 'decode'
type Coding = 'brotli' | 'deflate' | 'zstd'

/** What the commands of one kind took, per event. */
class Figures {
  events = 0
  bytes = 0
  readonly steps: Record<Step, number[]> = { apply: [], encode: [], messages: [], gather: [], decode: [] }
  readonly coded = new Map<Coding, { bytes: number; readonly micros: number[] }>()
}

const figures = new Map<Kind, Figures>()

/** The fastest setting of each coding. Node has zstd from 22.15 on. */
const codings: readonly (readonly [Coding, (bytes: Uint8Array) => Uint8Array])[] = [
  [
    'brotli',
    (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ],
  ['deflate', (bytes) => zlib.deflateRawSync(bytes, { level: 1 })],
  ...('zstdCompressSync' in zlib
    ? [['zstd', zlib.zstdCompressSync as (bytes: Uint8Array) => Uint8Array] as const]
    : []),
]

// What the maker of the traffic leaves behind would be collected while something else is timed.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void

const id = new Uint8Array(16)

/** Takes one command all the way: the first shard is given it as it was made, the second one as it was read. */
function carry(kind: Kind, command: ShardCommand, events: number, made: TestShard, read: TestShard): void {
  const own = figures.get(kind) ?? new Figures()
  figures.set(kind, own)
  const timed = <T>(step: Step, body: () => T): T => {
    const start = cpuMs()
    const result = body()
    own.steps[step].push((1_000 * (cpuMs() - start)) / events)
    return result
  }
  collect({ type: 'minor' })
  const bytes = timed('encode', () => encodeCommand(command))
  const messages = timed('messages', () => commandMessages(id, bytes))
  const gatherer = new CommandGatherer()
  const gathered = timed('gather', () => messages.map((message) => gatherer.take(message)).at(-1)!)
  assert.ok(gathered.type === 'finished')
  const decoded = timed('decode', () => decodeCommand(gathered.command))
  collect({ type: 'minor' })
  const outcome = timed('apply', () => made.writer.apply(command))
  assert.deepEqual(outcome, { type: 'applied' })
  assert.deepEqual(read.writer.apply(decoded), outcome)
  own.events += events
  own.bytes += messages.reduce((size, { length }) => size + length, 0)
  for (const [coding, encode] of codings) {
    const coded = own.coded.get(coding) ?? { bytes: 0, micros: [] }
    const start = cpuMs()
    coded.bytes += encode(bytes).length
    coded.micros.push((1_000 * (cpuMs() - start)) / events)
    own.coded.set(coding, coded)
  }
}

/** Two shards of one network, and what of its blocks is not a command yet. */
class Network {
  readonly #kind: 'deposits' | 'claims'
  readonly #made: TestShard
  readonly #read: TestShard
  readonly #waiting: IndexedBlock[] = []
  #events = 0
  readonly #senders: Omit<RowSender, 'kind' | 'ordinal'>[] = []
  #resolved = 0

  constructor(folder: string, networkId: number, kind: 'deposits' | 'claims') {
    this.#kind = kind
    this.#made = openTestShard(join(folder, 'made'), networkId)
    this.#read = openTestShard(join(folder, 'read'), networkId)
  }

  add(block: IndexedBlock): void {
    this.#waiting.push(block)
    this.#events += block.events.length
    if (this.#events >= batchEvents) this.flush()
  }

  flush(): void {
    const blocks = this.#waiting.splice(0)
    const head = blocks.at(-1)?.header
    if (head === undefined) return
    const place = { finalizedBlock: head.number, undoFloor: head.number }
    const batch = { fromBlock: blocks[0]!.header.number, head, blocks: packedBlocks(blocks), ...place }
    carry(this.#kind, { type: 'applyBlocks', batch }, this.#events, this.#made, this.#read)
    this.#events = 0
    for (const { events } of blocks)
      for (const event of events)
        if (event.type === 'deposit' || event.type === 'claim') {
          const { transactionHash, logIndex, blockNumber, sender } = event
          this.#senders.push({ transactionHash, logIndex, blockNumber, sender })
        }
    this.#resolve()
  }

  #resolve(): void {
    const kind = this.#kind === 'deposits' ? 'deposit' : 'claim'
    const senders = this.#senders.splice(0)
    const resolved = senders.map((told, at) => ({ kind, ordinal: this.#resolved + at, ...told }) as RowSender)
    this.#resolved += senders.length
    const command = { type: 'resolveSenders', resolved } as const
    carry(`senders of ${this.#kind}`, command, senders.length, this.#made, this.#read)
  }

  async close(): Promise<void> {
    assert.equal(this.#read.read(digestTables), this.#made.read(digestTables))
    await this.#made.close()
    await this.#read.close()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
try {
  const traffic = new Traffic(createHasher(compileMerkleModule()), bridges)
  const networks = new Map(
    [0, 1, 2, 3].map((networkId) => [
      networkId,
      new Network(folder, networkId, networkId === 0 ? 'deposits' : 'claims'),
    ]),
  )
  while (!traffic.isDone)
    for (const [networkId, block] of traffic.next().blocks) networks.get(networkId)!.add(block)
  for (const network of networks.values()) {
    network.flush()
    await network.close()
  }
  const rows = [...figures].map(([kind, { events, bytes, steps }]) => {
    const { apply, encode, messages, gather, decode } = steps
    const codec = median(encode) + median(messages) + median(gather) + median(decode)
    return [
      ...[kind, events.toString(), (bytes / events).toFixed(1)],
      ...[apply, encode, messages, gather, decode].map((micros) => median(micros).toFixed(2)),
      (codec / median(apply)).toFixed(2),
    ]
  })
  const coded = [...figures].map(([kind, { events, coded: each }]) => [
    kind,
    ...[...each.values()].flatMap(({ bytes, micros }) => [
      (bytes / events).toFixed(1),
      median(micros).toFixed(2),
    ]),
  ])
  console.log(
    `Measured at ${commitLine()}, on ${machineLine()}: ${bridges} deposits, ${batchEvents} events a command.\n`,
  )
  const steps = ['µs: apply', 'encode', 'cut and hash', 'gather and hash', 'decode']
  console.log(markdownTable(['', 'events', 'bytes', ...steps, 'all but apply ÷ apply'], rows))
  console.log(`\n${markdownTable(['', ...codings.flatMap(([name]) => [`${name}: bytes`, 'µs'])], coded)}`)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Of the commands of one kind: neither the first ones, whose code is not compiled yet, nor those that a collection hits. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
