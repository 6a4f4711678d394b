import { readFileSync } from 'node:fs'

const EVERY_MS = 200

/**
 * Watches the anonymous memory of this process: its resident memory without mapped pages of stores, which the system can take
 * back at any time. Linux only.
 * @returns a function that returns the peak so far, in bytes; undefined on other systems.
 */
export function watchAnonymousMemory(): () => number | undefined {
  if (process.platform !== 'linux') return () => undefined
  let peak = 0
  const look = (): number => {
    const status = readFileSync('/proc/self/status', 'latin1')
    peak = Math.max(peak, Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) * 1024)
    return peak
  }
  setInterval(look, EVERY_MS).unref()
  return look
}
