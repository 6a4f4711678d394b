import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchRoot } from './project.js'

/** A target of the project for a ratio or a cost, and what was measured. */
export type Target = { readonly text: string; readonly value: number; readonly unit?: string } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
)

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const align = head.map((_, i) => (i === 0 ? '---' : '--:'))
  return [head, align, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

export function targetTable(targets: readonly Target[]): string {
  const rows = targets.map((target) => {
    const unit = target.unit === undefined ? '' : ` ${target.unit}`
    const [sign, limit, isMet] =
      'atLeast' in target
        ? ['≥', target.atLeast, target.value >= target.atLeast]
        : ['≤', target.atMost, target.value <= target.atMost]
    return [target.text, `${sign} ${limit}${unit}`, `${target.value.toFixed(2)}${unit}`, isMet ? 'yes' : 'no']
  })
  return markdownTable(['target', 'limit', 'measured', 'met'], rows)
}

/** Replaces one bench's section of bench/README.md. */
export function writeSection(bench: string, body: string): void {
  const path = join(benchRoot, 'README.md')
  const page = readFileSync(path, 'utf8')
  const [begin, end] = [`<!-- ${bench}: begin -->`, `<!-- ${bench}: end -->`]
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`bench/README.md has no section ${bench}`)
  writeFileSync(path, `${page.slice(0, from + begin.length)}\n\n${body}\n\n${page.slice(to)}`)
}
