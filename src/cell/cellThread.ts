import type { MessagePort } from 'node:worker_threads'
import { statusRow } from '../board/statusBoard.js'
import type { RateLimitConfig } from '../config/config.types.js'
import { ConfigError } from '../config/configError.js'
import { hideAddresses } from '../config/hideAddresses.js'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import { HealthBoard } from '../health/healthBoard.js'
import { createHealthSource } from '../health/healthSource.js'
import { chooseTransport, transportLabel } from '../http/chooseTransport.js'
import { servedNetworks } from '../http/servedNetworks.js'
import { type HttpServer, startHttpServer } from '../http/server.js'
import { type QueryPool, startQueryPool } from '../pool/queryPool.js'
import { AwakeClock, everySecond, monotonicMs, SECOND_MS } from '../telemetry/clocks.js'
import { watchThread } from '../telemetry/counts/threadTimes.js'
import { FrontCounts } from '../telemetry/frontCounts.js'
import { createLogger, type Logger } from '../telemetry/logger.js'
import { openFiles } from '../telemetry/openFiles.js'
import { heapShortage } from '../telemetry/processMemory.js'
import { createHasher } from '../wasm/wasmModule.js'
import type { CellData, CellFault, CellMessage, CellOrder } from './cellMessages.js'

/** So old are the gauges of this thread at most, but for the first second after a rest. While it rests it beats once a second. */
const BEAT_EVERY_MS = 250

/**
 * The whole life of a cell's thread: it starts the query threads, opens the port when main says so, answers, and closes both in
 * steps that main orders. An error never ends the thread by itself: with an open app of uWebSockets.js that would abort the process.
 */
export function runCell(data: CellData, port: MessagePort): void {
  hideAddresses(data.config)
  const post = (message: CellMessage): void => port.postMessage(message)
  const bindings = data.cells === 1 ? {} : { front: data.cell + 1 }
  const logger = createLogger(data.config.log, { component: 'main', ...bindings })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      logger.error('unexpected failure', { error })
      post({ type: 'died', message: error instanceof Error ? error.message : String(error) })
    })
  const cell = new CellThread(data, logger, (message) => post({ type: 'died', message }))
  const orFail = (work: Promise<CellMessage>): Promise<void> =>
    work.then(post, (error: unknown) => post({ type: 'failed', fault: faultOf(error) }))
  const act = async (order: CellOrder): Promise<void> => {
    switch (order.type) {
      case 'open':
        return orFail(cell.open(order.port).then((opened) => ({ type: 'listening', port: opened })))
      case 'limit':
        return cell.limit(order.rateLimit)
      case 'drain':
        await cell.drain()
        return post({ type: 'drained' })
      case 'cut':
        await cell.cut()
        return post({ type: 'cut' })
      case 'stop':
        await cell.stop()
        // Nothing else keeps the thread: it ends.
        return port.close()
    }
  }
  port.on('message', (order: CellOrder) => void act(order))
  void orFail(cell.start().then(() => ({ type: 'ready' })))
}

class CellThread {
  private readonly data: CellData
  private readonly logger: Logger
  private readonly counts: FrontCounts
  private readonly thread: ReturnType<typeof watchThread>
  private readonly health: HealthBoard
  private readonly awake = new AwakeClock(SECOND_MS)
  private readonly stopBeats: () => void
  private nextBeat: NodeJS.Timeout | undefined
  private pool: QueryPool | undefined
  /** Counted before main opens any port: by the time that this thread opens its own, the others may have clients. */
  private otherFiles: number | undefined
  private starting: Promise<QueryPool> | undefined
  private opening: Promise<HttpServer> | undefined
  private http: HttpServer | undefined
  private isCut = false
  private hasNoMemory = false
  private readonly die: (message: string) => void

  /** @param die has the process end in order. */
  constructor(data: CellData, logger: Logger, die: (message: string) => void) {
    this.data = data
    this.logger = logger
    this.die = die
    this.counts = new FrontCounts(data.counts)
    this.thread = watchThread(this.counts)
    this.health = new HealthBoard(data.health)
    this.stopBeats = everySecond(() => this.beat())
  }

  async start(): Promise<void> {
    const { config, compiled, status } = this.data
    this.starting = startQueryPool({
      config,
      compiled,
      status,
      times: this.data.queryTimes,
      logger: this.logger.child({ component: 'pool' }),
      metrics: this.counts,
      now: () => this.awake.now(),
      onCorruptStore: (networkId, detail) => {
        this.logger.error('a query found that the store contradicts itself', { networkId, detail })
        if (networkId !== null) statusRow(status, networkId).setHaltReason('corrupt_store')
      },
    })
    this.pool = await this.starting
    this.otherFiles = openFiles()
    this.beat()
  }

  async open(port: number): Promise<number> {
    const pool = await this.starting!
    if (this.isCut) throw new OperatorError('the process ends')
    this.opening = this.listen(port, pool)
    this.http = await this.opening
    return this.http.port
  }

  private listen(port: number, pool: QueryPool): Promise<HttpServer> {
    const { cells, config, status } = this.data
    const { transport } = chooseTransport(config.http)
    const name = transportLabel(transport)
    if (name !== this.data.transport)
      throw new OperatorError(`a front thread loads ${name}, but the main thread ${this.data.transport}`)
    return startHttpServer({
      config: { ...config, http: { ...config.http, port } },
      transport,
      cells,
      otherFiles: this.otherFiles,
      pool,
      status,
      health: createHealthSource({
        config,
        status,
        board: this.health,
        awakeNow: () => this.health.awakeNow(monotonicMs()),
      }),
      networks: servedNetworks(config, createHasher(this.data.compiled)),
      logger: this.logger.child({ component: 'http' }),
      metrics: this.counts,
    })
  }

  /** Does nothing before the port is open. */
  limit(rateLimit: RateLimitConfig): void {
    this.http?.setRateLimit(rateLimit)
  }

  async drain(): Promise<void> {
    const http = await this.opened()
    await http?.drain(0)
  }

  /** After it the thread may be terminated at any time. */
  async cut(): Promise<void> {
    this.isCut = true
    const http = await this.opened()
    http?.cut()
  }

  async stop(): Promise<void> {
    // Closed already, but where the start of another cell has failed.
    await this.cut()
    // A start that has failed was reported, and has closed what it had opened.
    const pool = await this.starting?.catch(() => undefined)
    await pool?.close()
    this.stopBeats()
    clearTimeout(this.nextBeat)
    this.thread.close()
  }

  /** The server, also one that is being opened now; undefined without one. */
  private async opened(): Promise<HttpServer | undefined> {
    return this.opening?.catch(() => undefined)
  }

  /** A thread whose heap is full is ended by V8, and with an open app of uWebSockets.js the process is aborted for that without a word. */
  private lookAtMemory(): void {
    const shortage = this.hasNoMemory ? undefined : heapShortage()
    if (shortage === undefined) return
    this.hasNoMemory = true
    this.die(shortage)
  }

  private beat(): void {
    clearTimeout(this.nextBeat)
    this.awake.tick()
    this.thread.measure()
    this.lookAtMemory()
    if (this.pool !== undefined) this.health.setPoolAlive(this.data.cell, this.pool.isAlive())
    const { pending = 0, sending = 0, connections = 0 } = this.http?.stats() ?? {}
    const { waiting = 0, batchesInFlight = 0 } = this.pool?.stats() ?? {}
    this.counts.beat(waiting, pending, connections)
    // No `startPulse`: its looks would be turns of the event loop to that of the server, and the other way round, for ever.
    if (waiting + batchesInFlight + pending + sending > 0)
      this.nextBeat = setTimeout(() => this.beat(), BEAT_EVERY_MS)
  }
}

function faultOf(error: unknown): CellFault {
  if (error instanceof ConfigError) return { kind: 'config', mistakes: error.mistakes }
  const kind = error instanceof OperatorError ? 'operator' : error instanceof FatalError ? 'fatal' : 'other'
  return { kind, error: error instanceof Error ? error : new Error(String(error)) }
}
