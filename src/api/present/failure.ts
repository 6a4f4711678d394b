import type { Failure } from '../../query/answers.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'

const CODE = asciiBytes('{"error":{"code":')
const MESSAGE = asciiBytes(',"message":')
const CLOSING = asciiBytes('}}')

/** `{"error":{"code","message"}}`: the one shape of every 4xx and 5xx. */
export function writeFailure(writer: JsonWriter, failure: Failure): void {
  writer.raw(CODE)
  writer.text(failure.code)
  writer.raw(MESSAGE)
  writer.text(failure.message)
  writer.raw(CLOSING)
}
