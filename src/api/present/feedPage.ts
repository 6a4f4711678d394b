import {
  type FeedPage,
  type FeedRecord,
  feedDefinitions,
  feedEventTypes,
} from '../../query/feed/feedRecords.js'
import { templateOf } from '../../query/rowTemplate.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import { recordWriter, type WriteValue } from './recordWriter.js'

const NEWLINE = asciiBytes('\n')

const writers = new Map(
  feedEventTypes.map((type): [FeedRecord['type'], WriteValue<FeedRecord>] => [
    type,
    recordWriter<FeedRecord>(templateOf(feedDefinitions[type])),
  ]),
)

/**
 * Lines for the front, which hands on the text of an event as it is: first which events the feed has, then for each event its sequence
 * and, with nothing in between, its JSON.
 */
export function writeFeedPage(writer: JsonWriter, { feedId, oldest, newest, events }: FeedPage): void {
  writer.json({ feedId, oldest, newest })
  for (const { sequence, record } of events) {
    writer.raw(NEWLINE)
    writer.uint(sequence)
    writers.get(record.type)!(writer, record)
  }
}
