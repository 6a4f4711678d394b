let act: ((name: NodeJS.Signals) => void) | undefined
let isHeard = false
const early: NodeJS.Signals[] = []

/** Keeps the signals that ask a service to end until somebody acts on them. */
function hear(): void {
  if (isHeard) return
  isHeard = true
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, (name) => {
      if (act === undefined) early.push(name)
      else act(name)
    })
}

/**
 * From as early as can be: process 1 of a container does not even notice a signal that nobody listens to, and would go on.
 * Any other process just ends, whatever it waits for.
 */
export function hearStopSignalsEarly(): void {
  if (process.pid === 1) hear()
}

/** @param body takes every signal from now on, and those that were heard before. */
export function actOnStopSignals(body: (name: NodeJS.Signals) => void): void {
  hear()
  act = body
  for (const name of early.splice(0)) body(name)
}
