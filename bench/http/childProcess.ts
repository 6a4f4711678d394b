import { type ChildProcess, fork } from 'node:child_process'

export interface Child<Hello> {
  readonly process: ChildProcess
  /** The message that it sends when it listens. */
  readonly hello: Hello
}

/** Starts a file of this folder in its own process, which ends with ours. */
export function startChild<Hello>(file: string, args: readonly string[] = []): Promise<Child<Hello>> {
  const child = fork(new URL(file, import.meta.url), args)
  return new Promise((resolve, reject) => {
    child.once('message', (hello) => resolve({ process: child, hello: hello as Hello }))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
}
