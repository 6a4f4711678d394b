import { headPlaces, type StatusRow } from '../board/statusBoard.js'
import { ClusterUnavailableError } from '../cluster/clusterFaults.js'
import type { CommandLog } from '../cluster/commandLog.js'
import type { HeadNote, HeadReading, HeadWriter } from '../cluster/headBoard.js'
import { asLogSequence, type LogSequence } from '../cluster/logStream.js'
import { asBlockNumber } from '../protocol/units.js'
import { type Clock, monotonicMs } from '../telemetry/clocks.js'

const LOOK_EVERY_MS = 1_000

export interface StandingOptions {
  /** This instance's row, which no term has replaced. */
  readonly row: StatusRow
  readonly log: Pick<CommandLog, 'bounds'>
  readonly clock: Clock
  /** A head that nobody has told for so long is not known any more. */
  readonly maxStaleMs: number
  /** Called once, when this shard has been at the head as its holder tells it. */
  readonly onCaughtUp: () => void
}

/**
 * How one network of this instance stands in its cluster, on the status board: its place in the log, and what only the instance that leads
 * knows of the chain. An instance that leads shows the others what it knows.
 */
export class Standing {
  readonly #options: StandingOptions
  /** Everything up to here was read; undefined: nothing yet. */
  #read: LogSequence | undefined
  /** The log had its end at `atMs`. */
  #end: { readonly sequence: LogSequence; readonly atMs: number } | undefined
  /** When the shard was last known to have all of the log. */
  #wholeAtMs: number
  #heardOfHeadMs: number
  /** The newest note that holds from its sequence on, which this shard has not reached yet. */
  #ahead: HeadNote | undefined
  /** Notes of before tell nothing of a shard that has started over. */
  #startedOverAt = 0
  #writer: HeadWriter | undefined

  constructor(options: StandingOptions) {
    this.#options = options
    this.#wholeAtMs = options.clock.now()
    this.#heardOfHeadMs = options.clock.now()
  }

  /** The shard has read, and applied, the log up to here. */
  read(sequence: LogSequence): void {
    const { row } = this.#options
    this.#read = sequence
    row.set('logSequence', sequence)
    if (this.#end !== undefined && sequence >= this.#end.sequence) {
      this.#wholeAtMs = this.#end.atMs
      row.set('logLagMs', 0)
    }
    this.#adopt()
  }

  /** The shard was emptied by the command at this place. */
  startedOver(sequence: number): void {
    this.#startedOverAt = sequence
    this.#ahead = undefined
    this.#options.row.set('caughtUp', 0)
  }

  /** Somebody who leads the network has told of its chain. */
  heard({ note, isNews }: Pick<HeadReading, 'note' | 'isNews'>): void {
    const { row, clock } = this.#options
    // Nobody knows how old it is, and whoever lives tells more within a second.
    if (!isNews || this.#writer !== undefined) return
    this.#heardOfHeadMs = clock.now()
    row.set('headBlock', note.head)
    row.set('headTimestampSec', note.headTimestampSec)
    row.set('rpcDown', note.isRpcDown ? 1 : 0)
    row.set('contractDepositCount', note.contractDepositCount)
    row.set('contractsCompared', flagOf(note.areContractsCompared))
    row.set('awaitedSenders', note.awaitedSenders)
    this.#ahead = note
    this.#adopt()
  }

  /** This instance leads from now on, and shows the others its row. */
  leads(writer: HeadWriter): void {
    const { row } = this.#options
    this.#writer = writer
    this.#ahead = undefined
    row.set('leads', 1)
    // What the last one had of its endpoints says nothing about ours.
    row.set('rpcDown', 0)
    row.set('contractsCompared', undefined)
    row.set('awaitedSenders', 0)
  }

  follows(): void {
    const { row, clock } = this.#options
    this.#writer = undefined
    row.set('leads', 0)
    // How far this term had looked at other networks. Nobody would move it on, so the L1 would wait for it to be in sync, and this network, too.
    row.set('polledL1Commits', undefined)
    row.set('searchedL1Commits', undefined)
    row.set('comparedClaimWords', undefined)
    this.#heardOfHeadMs = clock.now()
  }

  /** Looks at the end of the log every second until the signal is aborted. Never throws. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await this.#look(signal)
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { row, log, clock, maxStaleMs } = this.#options
    if (this.#writer !== undefined) this.#writer.show(this.#note())
    else if (clock.now() - this.#heardOfHeadMs > maxStaleMs) row.set('rpcDown', 1)
    try {
      const askedMs = clock.now()
      const { last } = await log.bounds(signal)
      this.#end = { sequence: last, atMs: askedMs }
      row.set('logEnd', last)
      row.set('logHeardMs', monotonicMs())
      if ((this.#read ?? 0) >= last) this.#wholeAtMs = askedMs
      row.set('logLagMs', (this.#read ?? 0) >= last ? 0 : Math.round(clock.now() - this.#wholeAtMs))
    } catch (error) {
      if (!signal.aborted && !(error instanceof ClusterUnavailableError)) throw error
    }
  }

  /** What holds for a shard that stands at a note's place or behind it. */
  #adopt(): void {
    const { row, onCaughtUp } = this.#options
    const note = this.#ahead
    if (note === undefined || this.#writer !== undefined) return
    if ((this.#read ?? 0) < note.sequence || note.sequence < this.#startedOverAt) return
    this.#ahead = undefined
    // Only the first look after a start is the holder's to lend: whatever comes later stands in the log.
    if (note.isInStep && row.headPlace() === headPlaces.unseen) row.setHeadPlace(headPlaces.inStep)
    if (!note.hasCaughtUp || row.get('caughtUp') === 1) return
    row.set('caughtUp', 1)
    onCaughtUp()
  }

  #note(): HeadNote {
    const { row } = this.#options
    const head = row.get('headBlock')
    const areCompared = row.get('contractsCompared')
    return {
      sequence: this.#read ?? asLogSequence(0),
      head: head === undefined ? undefined : asBlockNumber(head),
      headTimestampSec: row.get('headTimestampSec'),
      hasCaughtUp: row.get('caughtUp') === 1,
      isInStep: row.headPlace() === headPlaces.inStep,
      isRpcDown: row.get('rpcDown') === 1,
      contractDepositCount: row.get('contractDepositCount'),
      areContractsCompared: areCompared === undefined ? undefined : areCompared === 1,
      awaitedSenders: row.get('awaitedSenders'),
    }
  }
}

function flagOf(is: boolean | undefined): number | undefined {
  return is === undefined ? undefined : is ? 1 : 0
}
