import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleaner, tempFolder } from '../../support/tempFolder.js'

/** What threads of a service can be told to do, each once per order. */
export interface ThreadHooks {
  /** For the service's start. */
  readonly environment: Readonly<Record<string, string>>
  /** The front thread (counted from 0) does nothing else for ever. */
  hang(front: number): void
  /** The front thread meets an error that nobody catches. */
  breakDown(front: number): void
  /** The next query thread that gets a task dies in place of it; `fill`: it fills its heap. */
  killQueryThread(how: 'exit' | 'trap' | 'fill'): void
  /** Whether a query thread has taken the last order. */
  isKilled(): boolean
}

/** Loads a script into every thread of a service, which obeys orders in a folder. */
export function threadHooks(context: Cleaner): ThreadHooks {
  const folder = tempFolder(context)
  const hook = join(folder, 'hook.cjs')
  writeFileSync(
    hook,
    `const { unlinkSync } = require('node:fs')
const { workerData } = require('node:worker_threads')
const taken = (order) => {
  try {
    unlinkSync(${JSON.stringify(folder)} + '/' + order)
    return true
  } catch {
    return false
  }
}
if (workerData?.cell !== undefined)
  setInterval(() => {
    if (taken('hang ' + workerData.cell)) for (;;);
    if (taken('break ' + workerData.cell)) throw new Error('broken on purpose')
  }, 20).unref()
if (workerData?.slots !== undefined) {
  // Query threads sleep here until a task comes.
  const { wait } = Atomics
  Atomics.wait = (...args) => {
    const outcome = wait(...args)
    if (taken('exit')) process.exit(1)
    if (taken('fill')) for (const heap = []; ; ) heap.push(new Array(100_000).fill(0.5))
    isTrapDue = taken('trap')
    return outcome
  }
  // The first call within a task.
  let isTrapDue = false
  const { subarray } = Uint8Array.prototype
  Uint8Array.prototype.subarray = function (...args) {
    if (!isTrapDue) return subarray.apply(this, args)
    isTrapDue = false
    throw new WebAssembly.RuntimeError('trapped on purpose')
  }
}
`,
  )
  const order = (name: string): void => writeFileSync(join(folder, name), '')
  return {
    environment: { NODE_OPTIONS: `--require ${hook}` },
    hang: (front) => order(`hang ${front}`),
    breakDown: (front) => order(`break ${front}`),
    killQueryThread: order,
    isKilled: () => !['exit', 'trap', 'fill'].some((name) => existsSync(join(folder, name))),
  }
}
