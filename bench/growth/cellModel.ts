import type { Clock } from './clock.js'
import { type Cores, Thread } from './threads.js'

/** CPU time in µs, kernel included. */
export interface ServiceTimes {
  /** Reading a request and sending its answer. */
  readonly frontRequestUs: number
  /** A batch in the front thread: handing it over, being woken by its answers. */
  readonly frontBatchUs: number
  readonly queryRequestUs: number
  /** A batch in the query thread: being woken, opening snapshots, giving the answers back. */
  readonly queryBatchUs: number
  /** The load generator's time per request; it counts only where it shares the cores. */
  readonly clientUs: number
}

/** A request on its connection. */
interface Request {
  /** Called when its answer has been sent. */
  answered(): void
}

export interface CellOptions {
  readonly times: ServiceTimes
  readonly queryThreads: number
  readonly mostPerBatch: number
  readonly wakeUs: number
}

// As in `src/pool/requestLanes.ts`, `src/pool/batchDispatcher.ts` and `src/pool/queryPool.ts`.
const LEAST_SHARE = 16
const BATCHES_PER_WORKER = 2

type Arrival = { readonly request: Request } | { readonly answers: readonly Request[] }

/**
 * A front thread and its query threads, as the service has them: what the front reads in one turn of its loop goes to a query thread
 * as one batch. A busy query thread gets a second batch once 16 requests wait.
 */
export class CellModel {
  batches = 0
  requests = 0
  private readonly clock: Clock
  private readonly options: CellOptions
  private readonly front: Thread<Arrival>
  private readonly workers: { readonly thread: Thread<readonly Request[]>; batches: number }[]
  private waiting: Request[] = []
  private inFlight = 0

  constructor(clock: Clock, cores: Cores, options: CellOptions) {
    this.clock = clock
    this.options = options
    this.front = new Thread(clock, cores, options.wakeUs, (arrivals) => this.frontTurn(arrivals))
    this.workers = Array.from({ length: options.queryThreads }, () => {
      const worker = {
        batches: 0,
        thread: new Thread<readonly Request[]>(clock, cores, options.wakeUs, (batches) => {
          const { queryBatchUs, queryRequestUs } = options.times
          let us = 0
          for (const batch of batches) {
            us += queryBatchUs + queryRequestUs * batch.length
            clock.after(us, () => {
              worker.batches--
              this.front.put({ answers: batch })
            })
          }
          return us
        }),
      }
      return worker
    })
  }

  get busyUs(): number {
    return this.workers.reduce((sum, { thread }) => sum + thread.busyUs, this.front.busyUs)
  }

  receive(request: Request): void {
    this.front.put({ request })
  }

  private frontTurn(arrivals: readonly Arrival[]): number {
    const { frontRequestUs, frontBatchUs } = this.options.times
    let us = 0
    for (const arrival of arrivals)
      if ('request' in arrival) {
        this.waiting.push(arrival.request)
        us += frontRequestUs / 2
      } else {
        this.inFlight--
        // As in the service, the query thread gets its next batch before these answers are written.
        us += frontBatchUs * this.dispatch(us)
        for (const request of arrival.answers) {
          us += frontRequestUs / 2
          this.clock.after(us, () => request.answered())
        }
      }
    return us + frontBatchUs * this.dispatch(us)
  }

  /** Sends what is due, `afterUs` from now. @returns the number of batches. */
  private dispatch(afterUs: number): number {
    const { queryThreads, mostPerBatch, times } = this.options
    let sent = 0
    while (
      this.waiting.length > 0 &&
      this.inFlight < BATCHES_PER_WORKER * queryThreads &&
      (this.inFlight < queryThreads || this.waiting.length >= LEAST_SHARE)
    ) {
      const idle = Math.max(1, queryThreads - this.inFlight)
      const share = Math.max(LEAST_SHARE, Math.ceil(this.waiting.length / idle))
      const batch = this.waiting.splice(0, Math.min(mostPerBatch, share))
      const worker = this.workers.reduce((least, each) => (each.batches < least.batches ? each : least))
      worker.batches++
      this.inFlight++
      this.batches++
      this.requests += batch.length
      sent++
      this.clock.after(afterUs + times.frontBatchUs * sent, () => worker.thread.put(batch))
    }
    return sent
  }
}
