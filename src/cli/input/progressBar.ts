const FULL = '█'
const EMPTY = '░'

/** `████░░░░  50 %`. @param share 0 to 1; what lies outside is cut. @param width of the bar, in signs. */
export function progressBar(share: number, width: number): string {
  const part = Math.min(1, Math.max(0, share))
  const full = Math.floor(part * width)
  // Never 100 before it is done.
  return `${FULL.repeat(full)}${EMPTY.repeat(width - full)} ${String(Math.floor(part * 100)).padStart(3)} %`
}

/** `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function spellSeconds(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.ceil(whole / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const BAR_WIDTH = 24

/**
 * Shows on standard error how far a long work is: one line that changes in place on a terminal, nothing elsewhere, so that no log and no pipe
 * gets it.
 */
export class ProgressLine {
  private readonly output: Pick<NodeJS.WriteStream, 'isTTY' | 'write' | 'columns'>
  private isShown = false

  /** @param output standard error; tests pass another one. */
  constructor(output: Pick<NodeJS.WriteStream, 'isTTY' | 'write' | 'columns'> = process.stderr) {
    this.output = output
  }

  /** @param share 0 to 1. @param text what is done now; one line. */
  show(share: number, text: string): void {
    if (!this.output.isTTY) return
    const line = `${progressBar(share, BAR_WIDTH)}  ${text}`.slice(
      0,
      Math.max(1, (this.output.columns ?? 80) - 1),
    )
    this.output.write(`\r\u001b[K${line}`)
    this.isShown = true
  }

  /** Takes the line away, for another text or the end. */
  clear(): void {
    if (this.isShown) this.output.write('\r\u001b[K')
    this.isShown = false
  }
}
