import assert from 'node:assert/strict'
import { pageOf, tableOf } from '../support/docsPages.js'

/** What a table of docs/http.md says of one transport: first cell of the row → the transport's cell. */
export function transportTable(head: 'request' | 'limit', transport: string): ReadonlyMap<string, string> {
  const [heads, ...rows] = tableOf(pageOf('docs/http.md'), head)
  const column = heads!.indexOf(`\`${transport}\``)
  assert.ok(column > 0, `docs/http.md has no column for ${transport}`)
  return new Map(rows.map((cells) => [cells[0]!, cells[column]!]))
}

/** The numbers of a cell of the table of limits: `10 to 12` → 10, 12. */
export function limitOf(transport: string, limit: string): readonly number[] {
  const cell = transportTable('limit', transport).get(limit)
  assert.ok(cell !== undefined, `docs/http.md has no limit ${limit}`)
  return cell.replaceAll(',', '').split(' to ').map(Number)
}
