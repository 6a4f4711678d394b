import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { BdsProcess } from './serviceProcess.js'

const TIMEOUT_MS = 5_000
const PAUSE_MS = 7_000
/** For services that are paused: a pause is longer than both. */
export const PAUSE_ARGUMENTS = [
  '--health-heartbeat-timeout-ms',
  String(TIMEOUT_MS),
  '--shutdown-grace-ms',
  '4000',
]

/** The whole process stands still, as in a paused container. */
export async function pause({ child }: BdsProcess): Promise<void> {
  child.kill('SIGSTOP')
  await delay(PAUSE_MS)
  child.kill('SIGCONT')
}

/** Long enough for a fault to be found that the pause left behind. */
export async function runOn(service: BdsProcess): Promise<void> {
  await Promise.race([delay(2_500), service.exited])
  assert.equal(service.child.exitCode, null, service.stderr.slice(-3).join('\n'))
  assert.equal(service.child.signalCode, null)
}
