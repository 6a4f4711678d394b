import { asBlockNumber, asNetworkId, type BlockNumber, type NetworkId } from '../protocol/units.js'
import type { Clock } from '../telemetry/clocks.js'
import { ClusterUnavailableError } from './clusterFaults.js'
import { asRevision, type KeyBoard, type KeyEntry, NEVER_WRITTEN, type Revision } from './keyBoard.js'
import { asLogSequence, type LogSequence } from './logStream.js'
import { Patience } from './patience.js'

/**
 * What the holder of a network's lease sees of its chain, and what changes too often to be a command. What is undefined is not known, or
 * not yet.
 */
export interface HeadNote {
  /** What the holder's shard had read of the log: the rest holds for a shard that stands there or behind. */
  readonly sequence: LogSequence
  readonly head: BlockNumber | undefined
  /** Unix seconds of the head. */
  readonly headTimestampSec: number | undefined
  /** Whether the shard has been at the head. */
  readonly hasCaughtUp: boolean
  /** Whether the head is at or above the stored blocks, as far as the holder has seen. */
  readonly isInStep: boolean
  /** Whether none of the holder's endpoints answers. */
  readonly isRpcDown: boolean
  /** Deposits that the contract counts. */
  readonly contractDepositCount: number | undefined
  /** Whether the last comparison with the contracts was answered. */
  readonly areContractsCompared: boolean | undefined
  /** Deposits and claims whose sender is still awaited. */
  readonly awaitedSenders: number
}

export interface HeadReading {
  readonly networkId: NetworkId
  readonly note: HeadNote
  /** The writer's lease. Readings of a network never go back to an earlier term. */
  readonly term: Revision
  /**
   * Whether it was written while we watched. If not, nobody knows how old it is, and a live holder writes again within seconds. The age of
   * a reading is counted from its arrival, by the reader's own clock.
   */
  readonly isNews: boolean
}

/** Shows one network's notes to all instances, for as long as its holder's lease. */
export interface HeadWriter {
  /** Replaces a note that is not yet written: at most one is written each second, always the newest. Never waits, never fails. */
  show(note: HeadNote): void
}

const SHORTEST_INTERVAL_MS = 1_000

/**
 * Writes what it is shown until the signal is aborted, or until a later holder has written: the key then stays as it is.
 * @param term of the lease.
 * @param signal of the lease: `ended`.
 */
export function openHeadWriter(
  board: KeyBoard,
  networkId: NetworkId,
  term: Revision,
  clock: Clock,
  signal: AbortSignal,
): HeadWriter {
  let waiting: HeadNote | undefined
  let wake = (): void => undefined
  const writeAll = async (): Promise<void> => {
    const patience = new Patience(clock, signal)
    let revision = NEVER_WRITTEN
    for (;;) {
      while (waiting === undefined) {
        signal.throwIfAborted()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const outcome = await patience.tryOnce(async () => {
        const note = waiting!
        const written = await board.write(keyOf(networkId), encode(term, note), revision, signal)
        if (written.type === 'changed') {
          const entry = await board.find(keyOf(networkId), signal)
          const other = entry === undefined ? undefined : decode(entry)
          if (other !== undefined && other.term > term) return 'superseded'
          revision = entry?.revision ?? NEVER_WRITTEN
          throw new ClusterUnavailableError(`the head of network ${networkId} has revision ${revision}`)
        }
        revision = written.revision
        if (waiting === note) waiting = undefined
        return 'written'
      })
      if (outcome === 'superseded') return
      if (outcome === 'written') await clock.sleep(SHORTEST_INTERVAL_MS, signal)
    }
  }
  // Nothing but the signal ends it: faults of the servers are tried again, and whoever reads sees that nothing comes.
  void writeAll().catch(() => undefined)
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    show(note) {
      waiting = note
      wake()
    },
  }
}

/** The newest note of a network, however old it is. @throws ClusterUnavailableError; the signal's reason. */
export async function findHead(
  board: KeyBoard,
  networkId: NetworkId,
  signal: AbortSignal,
): Promise<HeadNote | undefined> {
  const entry = await board.find(keyOf(networkId), signal)
  return entry === undefined ? undefined : decode(entry)?.note
}

/**
 * The newest note of each network, then each new one; of several quick ones of one network only the last is sure to come. Goes on by itself
 * after faults. Ends, without an error, when the signal is aborted.
 */
export async function* watchHeads(
  board: KeyBoard,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<HeadReading, void> {
  const patience = new Patience(clock, signal)
  const seen = new Map<string, { readonly revision: Revision; readonly term: Revision }>()
  try {
    while (!signal.aborted) {
      try {
        for await (const entry of board.watch(signal)) {
          patience.reset()
          const reading = decode(entry)
          const before = seen.get(entry.key)
          if (reading === undefined) continue
          if (before !== undefined && (entry.revision <= before.revision || reading.term < before.term))
            continue
          seen.set(entry.key, { revision: entry.revision, term: reading.term })
          yield { ...reading, isNews: entry.isNews }
        }
      } catch (error) {
        if (!(error instanceof ClusterUnavailableError)) throw error
      }
      await patience.pause()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function keyOf(networkId: NetworkId): string {
  return String(networkId)
}

function encode(term: Revision, note: HeadNote): string {
  return JSON.stringify({ term, ...note })
}

/** @returns undefined for what no `HeadWriter` wrote. */
function decode({ key, value }: KeyEntry): Omit<HeadReading, 'isNews'> | undefined {
  try {
    const fields = JSON.parse(value) as Partial<Record<keyof HeadNote | 'term', unknown>>
    const { head, headTimestampSec, contractDepositCount, areContractsCompared } = fields
    return {
      networkId: asNetworkId(Number(key)),
      term: asRevision(asCount(fields.term)),
      note: {
        sequence: asLogSequence(asCount(fields.sequence)),
        head: head === undefined ? undefined : asBlockNumber(asCount(head)),
        headTimestampSec: headTimestampSec === undefined ? undefined : asCount(headTimestampSec),
        hasCaughtUp: asFlag(fields.hasCaughtUp),
        isInStep: asFlag(fields.isInStep),
        isRpcDown: asFlag(fields.isRpcDown),
        contractDepositCount: contractDepositCount === undefined ? undefined : asCount(contractDepositCount),
        areContractsCompared: areContractsCompared === undefined ? undefined : asFlag(areContractsCompared),
        awaitedSenders: asCount(fields.awaitedSenders),
      },
    }
  } catch {
    return undefined
  }
}

function asCount(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${value} is no count`)
  return value
}

function asFlag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new RangeError(`${value} is no flag`)
  return value
}
