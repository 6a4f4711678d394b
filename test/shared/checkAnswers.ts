import { spawn } from 'node:child_process'
import { sharedPath } from '../support/sharedFolder.js'

/** Runs the checker as a process of its own and collects its output. */
export function checkAnswers(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [sharedPath('replay', 'check-answers.mjs'), ...args])
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += String(data)
      })
    child.once('close', (code) => resolve({ code, output }))
  })
}
