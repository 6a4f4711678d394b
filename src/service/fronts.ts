import { url as inspectorUrl } from 'node:inspector'
import type { StatusBoardHandle } from '../board/statusBoard.js'
import { type Cell, startCell } from '../cell/cell.js'
import { type CellSizes, cellConfig, cellRateLimit } from '../cell/cellSizes.js'
import { type TakenPort, takePort } from '../cell/sharedPort.js'
import type { Config, RateLimitConfig } from '../config/config.types.js'
import { OperatorError } from '../errors/operatorError.js'
import type { HealthBoardHandle } from '../health/healthBoard.js'
import { countedLabels } from '../http/countedLabels.js'
import { dialectPorts } from '../http/dialectTargets.js'
import { createQueryThreadTimes, type QueryThreadTimesHandle } from '../telemetry/counts/queryThreadTimes.js'
import { createFrontCounts, type FrontCountsHandle } from '../telemetry/frontCounts.js'
import type { CompiledMerkle } from '../wasm/wasmModule.js'
import { endThreadBy } from './exit.js'
import type { Rooms } from './rooms.js'

export interface FrontsOptions {
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  readonly health: HealthBoardHandle
  readonly sizes: CellSizes
  readonly transport: string
  /** Takes what ends the process: a front thread died or is silent. Also called while the service stops. */
  readonly fail: (error: Error) => void
}

/** All cells of the service. */
export interface Fronts {
  /** What each front thread counts. */
  readonly counts: readonly FrontCountsHandle[]
  /** What the query threads of each count. */
  readonly queryTimes: readonly QueryThreadTimesHandle[]
  /** Resolves when all query threads have opened the stores. */
  readonly ready: Promise<unknown>
  /** Opens the port. @returns the port that is open. */
  open(): Promise<number>
  /** Changes the rate limit of all together. */
  limit(rateLimit: RateLimitConfig): void
  /** Ends the process when a front thread is silent for too long. @param nowMs running time of this thread. */
  watch(nowMs: number): void
}

/** Longest time that a front thread may give no sign of life: by then its clients have waited for seconds. */
const LONGEST_SILENCE_MS = 5_000
/** The same until the port is open. Nobody is served yet, and on a machine that is very busy loading code and opening stores takes seconds. */
const LONGEST_START_MS = 60_000

/** Starts the cells. Their ports close before their query threads, each at the same time as those of the other cells. */
export function startFronts(options: FrontsOptions, rooms: Rooms): Fronts {
  const { config, compiled, status, health, sizes, transport, fail } = options
  const { host, port } = config.http
  const counts: FrontCountsHandle[] = []
  const queryTimes: QueryThreadTimesHandle[] = []
  const cells: { readonly name: string; readonly cell: Cell }[] = []
  const taken: TakenPort[] = []
  rooms.add('guard of the port', async () => {
    for (const one of taken) one.release()
  })
  for (let at = 0; at < sizes.cells; at++) {
    const name = `front thread ${at + 1}`
    counts.push(createFrontCounts(countedLabels))
    queryTimes.push(createQueryThreadTimes(sizes.workers))
    const cell = startCell({
      data: {
        cell: at,
        cells: sizes.cells,
        config: cellConfig(config, sizes),
        compiled,
        status,
        health,
        counts: counts[at]!,
        queryTimes: queryTimes[at]!,
        transport,
      },
      onDied: (message) => fail(new OperatorError(`${name} ended: ${message}`)),
    })
    endThreadBy(cell.thread, () => cell.end())
    cells.push({ name, cell })
    rooms.add(roomName('query pool', name), () => cell.stop(), 'query pools')
  }
  for (const { name, cell } of cells) rooms.add(roomName('http port', name), () => cell.drain(), 'http ports')

  function roomName(room: string, name: string): string {
    return sizes.cells === 1 ? room : `${room} of ${name}`
  }

  return {
    counts,
    queryTimes,
    ready: Promise.all(cells.map(({ cell }) => cell.ready)),
    open: async () => {
      if (cells.length > 1) {
        taken.push(await takePort(host, port))
        for (const [, own] of dialectPorts(config.dialects)) taken.push(await takePort(host, own))
      }
      const opened = await Promise.all(cells.map(({ cell }) => cell.open(taken[0]?.port ?? port)))
      return opened[0]!
    },
    limit: (rateLimit) => {
      for (const { cell } of cells) cell.limit(cellRateLimit(rateLimit, sizes.cells))
    },
    watch: (nowMs) => {
      // A thread that stands at a breakpoint is silent.
      if (inspectorUrl() !== undefined) return
      for (const { name, cell } of cells) {
        const silentMs = cell.silentForMs(nowMs)
        const limitMs = cell.isServing() ? LONGEST_SILENCE_MS : LONGEST_START_MS
        if (silentMs <= limitMs) continue
        cell.giveUp()
        fail(new OperatorError(`${name} has given no sign of life for ${limitMs} ms`))
      }
    },
  }
}
