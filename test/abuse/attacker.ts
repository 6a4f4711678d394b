import { fork } from 'node:child_process'
import type { Cleaner } from '../support/tempFolder.js'
import type { AttackMessage, AttackOrder, AttackReport } from './attackOrder.js'

/** An attacker at work. */
export interface Attacker {
  /** Resolves when it has asked for everything; most attackers never have. */
  readonly done: Promise<void>
  stop(): Promise<AttackReport>
}

/** Starts an attacker's process. Resolves when the attack has begun. */
export function startAttacker(context: Cleaner, order: AttackOrder): Promise<Attacker> {
  const child = fork(new URL('./attackerProcess.js', import.meta.url), [JSON.stringify(order)])
  context.after(() => void child.kill('SIGKILL'))
  return new Promise((resolve, reject) => {
    let tellDone: () => void = () => undefined
    let tellReport: (report: AttackReport) => void = () => undefined
    const done = new Promise<void>((told) => {
      tellDone = told
    })
    child.on('message', (message: AttackMessage) => {
      if (message === 'done') tellDone()
      else if (message !== 'begun') tellReport(message)
      else
        resolve({
          done,
          stop: () =>
            new Promise((told) => {
              tellReport = told
              child.send('stop')
            }),
        })
    })
    child.once('exit', (code) => reject(new Error(`the attacker ended with ${code}`)))
  })
}
