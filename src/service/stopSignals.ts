let act: ((name: NodeJS.Signals) => void) | undefined
let isListening = false
const early: NodeJS.Signals[] = []

/** Listens for the signals that ask a service to end, and keeps them until `actOnStopSignals` is called. */
function listen(): void {
  if (isListening) return
  isListening = true
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, (name) => {
      if (act === undefined) early.push(name)
      else act(name)
    })
}

/**
 * Call it as early as possible. Process 1 of a container ignores a signal without a listener and would go on. Any other process is
 * ended by such a signal, so it needs no listener yet.
 */
export function catchStopSignalsEarly(): void {
  if (process.pid === 1) listen()
}

/** @param body is called with every signal from now on, and with those that came before. */
export function actOnStopSignals(body: (name: NodeJS.Signals) => void): void {
  listen()
  act = body
  for (const name of early.splice(0)) body(name)
}
