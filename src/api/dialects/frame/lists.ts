import { type Failure, failure } from '../../../query/answers.js'
import type { Page } from '../../../query/records.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import { asciiBytes } from '../../present/jsonWriter.js'
import { pageWriter } from '../../present/pageWriter.js'
import type { Presenter } from '../../present/present.js'
import type { WriteValue } from '../../present/recordWriter.js'

/** Answers with rows of a list: our pages and rows, between what the other service puts around them. */

/**
 * @param start JSON in front of the first row.
 * @param writeEnd writes what follows the last one.
 * @param rowWriterOf as of `pageWriter`.
 */
export function listPresenter<Row extends object>(
  start: string,
  writeEnd: WriteValue<Page<Row>>,
  rowWriterOf?: (template: RowTemplate) => WriteValue<Row>,
): Presenter<Page<Row>> {
  return { ...pageWriter<Row>(start, rowWriterOf, writeEnd), life: () => 'commit' }
}

/**
 * For services that have an endpoint for one row. The page has one, or `lacksRow` has refused it.
 * @param key what the row stands under; absent: the row is the whole answer.
 */
export function onlyRowPresenter<Row extends object>(
  key?: string,
  rowWriterOf?: (template: RowTemplate) => WriteValue<Row>,
): Presenter<Page<Row>> {
  const end = asciiBytes(key === undefined ? '' : '}')
  return listPresenter(key === undefined ? '' : `{"${key}":`, (writer) => writer.raw(end), rowWriterOf)
}

/** Makes of an empty page what the other service says of a row that is not there. */
export function lacksRow({ total }: Page<unknown>): Failure | undefined {
  return total === 0 ? failure('BRIDGE_NOT_FOUND', 'no such row') : undefined
}
