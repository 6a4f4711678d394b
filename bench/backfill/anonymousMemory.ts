import { readProcessMemory } from '../../src/telemetry/processMemory.js'

const EVERY_MS = 200

/**
 * Watches the anonymous memory of this process: its resident memory without mapped pages of stores, which the system can take
 * back at any time. Linux only.
 * @returns a function that returns the peak so far, in bytes; undefined on other systems.
 */
export function watchAnonymousMemory(): () => number | undefined {
  if (readProcessMemory() === undefined) return () => undefined
  let peak = 0
  const look = (): number => {
    peak = Math.max(peak, readProcessMemory()!.anonymousBytes)
    return peak
  }
  setInterval(look, EVERY_MS).unref()
  return look
}
