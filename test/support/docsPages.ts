import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const project = new URL('../../../', import.meta.url)

/** The text of a file of the project. */
export const pageOf = (file: string): string => readFileSync(new URL(file, project), 'utf8')

/** The lines of the table of `text` whose first head cell is `head`, each a list of cells; the head first. */
export function tableOf(text: string, head: string): string[][] {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.startsWith(`| ${head} |`))
  assert.ok(at >= 0, `no table that begins with ${head}`)
  const end = lines.findIndex((line, i) => i > at && !line.startsWith('|'))
  return [lines[at]!, ...lines.slice(at + 2, end)].map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The rows of that table. */
export const rowsOf = (text: string, head: string): string[][] => tableOf(text, head).slice(1)
