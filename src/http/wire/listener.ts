import { closeSync, openSync } from 'node:fs'
import { openFiles } from '../../telemetry/openFiles.js'
import type { ListenSocket } from './uws.js'
import type { ConnectionWatch } from './wire.js'

export interface ListenerOptions {
  close(socket: ListenSocket): void
  /** Takes the port again. @returns undefined where it can't be had now. */
  open(): ListenSocket | undefined
  readonly connections: ConnectionWatch
  /** Threads that share the port, and with it the descriptors of the process. */
  readonly cells: number
  /** Descriptors that are no connection's; undefined = nothing is counted. */
  readonly otherFiles: number | undefined
}

/** Time between two looks while more than half of the connections are taken: thousands come within 100 ms. */
const LOOK_OFTEN_MS = 10
/** Part of its time that a thread may look: an older kernel needs milliseconds to count descriptors. */
const LOOK_SHARE = 10

/** Most connections that come between two looks: what the kernel keeps for one call of `accept`. */
const MOST_AT_ONCE = 512
/** Descriptors that all threads together hold, and let go when the process would have none: for the operations port, endpoints and files. */
const SPARE_FILES = 64

/**
 * The open port of an app. The old core of uWebSockets.js neither tells of connections nor refuses one, and without a descriptor for the next
 * one it spins and starves the process of them. So `look` closes the port while there are too many
 * connections: then the kernel refuses new ones. How many there are is told by the descriptors of the process.
 */
export class Listener {
  private socket: ListenSocket | undefined
  private readonly options: ListenerOptions
  private readonly spare: number[] = []
  private readonly closesAt: number
  private readonly opensAt: number
  private timer: NodeJS.Timeout | undefined
  private looksAtMs = 0
  private isStopped = false

  constructor(socket: ListenSocket, options: ListenerOptions) {
    const { max } = options.connections
    this.socket = socket
    this.options = options
    // A port that is closed only at `max` has gone beyond it by then.
    this.closesAt = max - Math.min(MOST_AT_ONCE, Math.floor(max / 8))
    this.opensAt = this.closesAt - Math.ceil(max / 16)
  }

  /**
   * Closes the port where there are too many connections, and takes it again where there is room. To be called ten times a second; while
   * many connections are taken it looks more often by itself. Nothing is counted without a limit, or where there is no /proc.
   * @returns false when the next call may wait until the event loop turns, as it does for each new connection.
   */
  look(): boolean {
    const { options, spare } = this
    const { connections, cells, otherFiles } = options
    const startedAtMs = performance.now()
    if (otherFiles === undefined || !Number.isFinite(connections.max) || this.isStopped) return false
    if (startedAtMs < this.looksAtMs) return true
    clearTimeout(this.timer)
    const counted = ((openFiles() ?? 0) - spare.length - otherFiles) / cells
    // Without a descriptor to look with there are too many.
    const open = Number.isFinite(counted) ? Math.max(0, Math.round(counted)) : connections.max
    connections.recount(open)
    if (open >= this.closesAt) this.holdBack()
    else {
      this.takeSpare()
      if (open <= this.opensAt) this.socket ??= options.open()
    }
    const endedAtMs = performance.now()
    this.looksAtMs = endedAtMs + LOOK_SHARE * (endedAtMs - startedAtMs)
    if (open > connections.max / 2)
      // A timer may come up to a millisecond early.
      this.timer = setTimeout(
        () => this.look(),
        Math.max(LOOK_OFTEN_MS, Math.ceil(this.looksAtMs - endedAtMs) + 1),
      )
    return open > connections.max / 2 || this.socket === undefined
  }

  /** Closes the port for good. Once only: closing a listen socket of uWebSockets.js twice is a use after free. */
  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
    this.close()
    this.leaveSpare()
  }

  private holdBack(): void {
    if (this.socket === undefined) return
    // First the port: it would take the descriptors that are let go.
    this.close()
    this.leaveSpare()
    this.options.connections.refuse()
  }

  private close(): void {
    if (this.socket !== undefined) this.options.close(this.socket)
    this.socket = undefined
  }

  private takeSpare(): void {
    const { cells, connections } = this.options
    // What the other threads hold in reserve looks like connections: it must be far less than makes a port close.
    const most = Math.min(SPARE_FILES / cells, Math.floor(connections.max / 16))
    try {
      while (this.spare.length < most) this.spare.push(openSync('/dev/null', 'r'))
    } catch {
      // There are too few of them again.
    }
  }

  private leaveSpare(): void {
    for (const file of this.spare.splice(0)) closeSync(file)
  }
}
