import { type Failure, failure } from '../../../query/answers.js'
import type { Page } from '../../../query/records.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import type { Presenter } from '../../present/present.js'
import { recordWriter } from '../../present/recordWriter.js'

/** Answers with one row of a list, for services that have an endpoint for it. */

/**
 * @param key what the row stands under; absent: the row is the whole answer.
 * @param spell adds to a row what only the other service tells.
 */
export function onlyRowPresenter<Row extends object>(
  template: RowTemplate,
  key?: string,
  spell: (row: Row) => object = (row) => row,
): Presenter<Page<Row>> {
  const opening = asciiBytes(key === undefined ? '' : `{"${key}":`)
  const end = asciiBytes(key === undefined ? '' : '}')
  const writeRow = recordWriter<object>(template)
  return {
    write(writer, { rows }) {
      writer.raw(opening)
      writeRow(writer, spell(rows[0]!))
      writer.raw(end)
    },
    life: () => 'commit',
  }
}

/** Makes of an empty page what the other service says of a row that is not there. */
export function lacksRow({ rows }: Page<unknown>): Failure | undefined {
  return rows.length === 0 ? failure('BRIDGE_NOT_FOUND', 'no such row') : undefined
}
