import { FIRST_SAMPLE, type NetworkSample } from './healthSample.js'

export type Phase = 'starting' | 'running' | 'draining'
const phases: readonly Phase[] = ['starting', 'running', 'draining']

const serviceFields = [
  'phase',
  /** `monotonicMs()` and Unix milliseconds of the start. */
  'startedAtMs',
  'startedAtUnixMs',
  /** Main's running time at the last sample, and `monotonicMs()` then. */
  'awakeMs',
  'awakeAtMs',
  /** 1 once the newest global exit roots were asked for; any thread may find out. */
  'areRootsPolled',
] as const
type ServiceField = (typeof serviceFields)[number]

/** How an unknown head is written. */
const UNKNOWN = -1

/** Numbers of one `NetworkSample`, in the order in which they are written; read the other way round, no head looks older than it is. */
const SAMPLE_NUMBERS = 12

/** What main has found out about health, as it is passed to each front thread: plain data with shared memory inside. */
export interface HealthBoardHandle {
  readonly networkIds: readonly number[]
  readonly fronts: number
  readonly memory: SharedArrayBuffer
}

/** Main calls it once, before any other thread starts. @param fronts number of front threads. */
export function createHealthBoard(networkIds: readonly number[], fronts: number): HealthBoardHandle {
  const numbers = serviceFields.length + SAMPLE_NUMBERS * networkIds.length + fronts
  const handle = {
    networkIds,
    fronts,
    memory: new SharedArrayBuffer(numbers * BigInt64Array.BYTES_PER_ELEMENT),
  }
  const board = new HealthBoard(handle)
  for (const networkId of networkIds) board.setSample(networkId, FIRST_SAMPLE)
  return handle
}

/** A sample is due every second. So a pause of the whole process counts as half a second more at most. */
const LONGEST_SINCE_SAMPLE_MS = 1_500

/**
 * What health needs besides the status board, in shared memory, so that the API of every front thread, probes and metrics say the
 * same. Main writes it, except for one flag per front thread.
 */
export class HealthBoard {
  private readonly handle: HealthBoardHandle
  private readonly numbers: BigInt64Array<SharedArrayBuffer>

  constructor(handle: HealthBoardHandle) {
    this.handle = handle
    this.numbers = new BigInt64Array(handle.memory)
  }

  get(field: ServiceField): number {
    return this.read(serviceFields.indexOf(field))
  }

  set(field: ServiceField, value: number): void {
    this.write(serviceFields.indexOf(field), value)
  }

  phase(): Phase {
    return phases[this.get('phase')]!
  }

  setPhase(phase: Phase): void {
    this.set('phase', phases.indexOf(phase))
  }

  /** Whether the query threads of every front thread answer. */
  arePoolsAlive(): boolean {
    for (let front = 0; front < this.handle.fronts; front++)
      if (this.read(this.poolPlace(front)) !== 1) return false
    return true
  }

  /** Only for that front thread. */
  setPoolAlive(front: number, isAlive: boolean): void {
    this.write(this.poolPlace(front), isAlive ? 1 : 0)
  }

  /** Main's running time, as any thread can tell it. @param monotonicMs now. */
  awakeNow(monotonicMs: number): number {
    const since = monotonicMs - this.get('awakeAtMs')
    return this.get('awakeMs') + Math.min(since, LONGEST_SINCE_SAMPLE_MS)
  }

  setSample(networkId: number, { lag, maxLag, rpc, cutOffSinceMs, head, life }: NetworkSample): void {
    const streaks = [lag, maxLag, rpc].flatMap(({ on, against }) => [on ? 1 : 0, against])
    const numbers = [...streaks, cutOffSinceMs, life.beats, life.sinceMs]
    const headNumbers = [head.sinceMs, head.block ?? UNKNOWN, head.timestampSec ?? UNKNOWN]
    const at = this.samplePlace(networkId)
    for (const [place, value] of [...numbers, ...headNumbers].entries()) this.write(at + place, value)
  }

  sample(networkId: number): NetworkSample {
    const at = this.samplePlace(networkId)
    const number = (place: number): number => this.read(at + place)
    const known = (place: number): number | undefined => {
      const value = number(place)
      return value === UNKNOWN ? undefined : value
    }
    const [timestampSec, block, headSinceMs] = [known(11), known(10), number(9)]
    return {
      lag: { on: number(0) === 1, against: number(1) },
      maxLag: { on: number(2) === 1, against: number(3) },
      rpc: { on: number(4) === 1, against: number(5) },
      cutOffSinceMs: number(6),
      life: { beats: number(7), sinceMs: number(8) },
      head: { block, timestampSec, sinceMs: headSinceMs },
    }
  }

  private samplePlace(networkId: number): number {
    return serviceFields.length + SAMPLE_NUMBERS * this.handle.networkIds.indexOf(networkId)
  }

  private poolPlace(front: number): number {
    return serviceFields.length + SAMPLE_NUMBERS * this.handle.networkIds.length + front
  }

  private read(place: number): number {
    return Number(Atomics.load(this.numbers, place))
  }

  private write(place: number, value: number): void {
    Atomics.store(this.numbers, place, BigInt(Math.floor(value)))
  }
}
