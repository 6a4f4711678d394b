import { decodeCursor } from '../../src/query/cursor.js'

/** What a query has of a cursor that an answer gave. */
export function cursorNumbers(text: string): readonly number[] {
  return decodeCursor(Buffer.from(text, 'base64url'))!.numbers
}
