import { createStatusBoard, type StatusBoardHandle } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { countEvents } from '../../src/indexer/sync/batches.js'
import { stretchEvents } from '../../src/indexer/sync/windowPipeline.js'
import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import type { ClaimOrdinal, DepositCount } from '../../src/protocol/units.js'
import { applyOrThrow } from '../../src/shard/applyOrThrow.js'
import type { RowSender } from '../../src/shard/senders.types.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'
import { openShardWriter } from '../../src/shard/write/writer.js'
import { prepareStores } from '../../src/store/openStores.js'
import { type CompiledMerkle, createHasher } from '../../src/wasm/wasmModule.js'
import { packedBlocks } from '../../test/support/packedBlocks.js'
import { cpuMs } from '../micro/race.js'
import { SERVED, Traffic } from './traffic.js'

/** Senders that the indexer stores in one commit when its endpoint answers fast. */
const SENDERS_AT_ONCE = 16_384

type LogSender = Omit<RowSender, 'kind' | 'ordinal'>

/** Gets every step of the traffic that the stores get. */
export interface Listener {
  add(networkId: number, blocks: readonly IndexedBlock[]): void
}

/** Deposits of network 0 that its writer stores per second. */
export interface WritingRates {
  /** Per CPU time, of the blocks alone and of their senders alone. */
  readonly blocksPerCpuSecond: number
  readonly sendersPerCpuSecond: number
  /** Both. */
  readonly perCpuSecond: number
  /** Both per wall time, with commits. */
  readonly perSecond: number
}

export interface BuiltStores {
  readonly traffic: Traffic
  readonly status: StatusBoardHandle
  readonly writing: WritingRates
  readonly claims: number
  claimsOn(networkId: number): number
  close(): Promise<void>
}

/**
 * Fills the stores of a configuration with `bridges` deposits of network 0 and their claims, with the writers of the service and
 * as its backfill does: packed events, the same number per transaction, then their senders. The writers check everything that
 * they check on real chains. The time to make the events is not counted.
 */
export function buildStores(
  config: Config,
  compiled: CompiledMerkle,
  bridges: number,
  listener: Listener,
): BuiltStores {
  const status = createStatusBoard([...SERVED])
  const guard = prepareStores(config)
  const writers = new Map<number, CountedWriter>(
    SERVED.map((networkId) => [
      networkId,
      new CountedWriter(openShardWriter({ config, networkId, compiled, status })),
    ]),
  )
  const traffic = new Traffic(createHasher(compiled), bridges)
  const waiting = new Map<number, IndexedBlock[]>(SERVED.map((id) => [id as number, []]))
  const apply = (networkId: number): void => {
    const blocks = waiting.get(networkId)!.splice(0)
    if (blocks.length === 0) return
    listener.add(networkId, blocks)
    writers.get(networkId)!.apply(blocks)
  }
  let events = 0
  while (!traffic.isDone) {
    const { blocks } = traffic.next()
    for (const [networkId, block] of blocks) waiting.get(networkId)!.push(block)
    events += countEvents([blocks.get(0)!])
    if (events < stretchEvents(traffic.depositCount)) continue
    for (const networkId of SERVED) apply(networkId)
    events = 0
  }
  for (const networkId of SERVED) apply(networkId)
  for (const writer of writers.values()) writer.applySenders()
  const claimCounts = new Map([...writers].map(([id, { writer }]) => [id, writer.counts().claims]))
  return {
    traffic,
    status,
    writing: writers.get(0)!.rates(bridges),
    claims: [...claimCounts.values()].reduce((sum, count) => sum + count, 0),
    claimsOn: (networkId) => claimCounts.get(networkId)!,
    async close() {
      for (const { writer } of writers.values()) await writer.close()
      await guard.close()
    },
  }
}

/** A writer, and the time that it has taken. */
class CountedWriter {
  readonly writer: ShardWriter
  private blocksCpuMs = 0
  private sendersCpuMs = 0
  private wallMs = 0
  private readonly depositSenders: LogSender[] = []
  private readonly claimSenders: LogSender[] = []

  constructor(writer: ShardWriter) {
    this.writer = writer
  }

  apply(blocks: readonly IndexedBlock[]): void {
    this.keepSenders(blocks)
    const packed = packedBlocks(blocks)
    const { header: head } = blocks.at(-1)!
    const started = performance.now()
    const before = cpuMs()
    const batch = {
      fromBlock: blocks[0]!.header.number,
      head,
      blocks: packed,
      finalizedBlock: head.number,
      undoFloor: head.number,
    }
    applyOrThrow(this.writer, { type: 'applyBlocks', batch })
    this.blocksCpuMs += cpuMs() - before
    this.wallMs += performance.now() - started
  }

  /** Call it when all blocks are stored: the service stores senders then, too. */
  applySenders(): void {
    const ofKind = (kind: 'deposit' | 'claim', senders: readonly LogSender[]): void => {
      for (let from = 0; from < senders.length; from += SENDERS_AT_ONCE) {
        const resolved = senders
          .slice(from, from + SENDERS_AT_ONCE)
          .map((told, at) => ({ kind, ordinal: (from + at) as DepositCount | ClaimOrdinal, ...told }))
        const started = performance.now()
        const before = cpuMs()
        applyOrThrow(this.writer, { type: 'resolveSenders', resolved })
        this.sendersCpuMs += cpuMs() - before
        this.wallMs += performance.now() - started
      }
    }
    ofKind('deposit', this.depositSenders)
    ofKind('claim', this.claimSenders)
  }

  rates(deposits: number): WritingRates {
    const perSecond = (milliseconds: number): number => (1000 * deposits) / milliseconds
    return {
      blocksPerCpuSecond: perSecond(this.blocksCpuMs),
      sendersPerCpuSecond: perSecond(this.sendersCpuMs),
      perCpuSecond: perSecond(this.blocksCpuMs + this.sendersCpuMs),
      perSecond: perSecond(this.wallMs),
    }
  }

  private keepSenders(blocks: readonly IndexedBlock[]): void {
    for (const { events } of blocks)
      for (const event of events)
        if (event.type === 'deposit') this.depositSenders.push(senderOf(event))
        else if (event.type === 'claim') this.claimSenders.push(senderOf(event))
  }
}

function senderOf({ transactionHash, logIndex, blockNumber, sender }: LogSender): LogSender {
  return { transactionHash, logIndex, blockNumber, sender }
}
