import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'

export interface Child<Hello> {
  readonly process: ChildProcess
  /** The message that it sends when it listens. */
  readonly hello: Hello
}

/** As `src/cli/bds.sh` starts the service. */
const HELPER_THREADS = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 4)))

/** Starts a file of this folder in its own process, which ends with ours. */
export function startChild<Hello>(file: string, args: readonly string[] = []): Promise<Child<Hello>> {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: [`--v8-pool-size=${HELPER_THREADS}`] })
  return new Promise((resolve, reject) => {
    child.once('message', (hello) => resolve({ process: child, hello: hello as Hello }))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
}
