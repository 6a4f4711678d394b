import type { JsonWriter } from './jsonWriter.js'

/**
 * Keeps the JSON text of each object that was written. Query threads return the same objects again and again, so each is written once.
 * A text is dropped together with its object.
 */
export class KeptTexts<Value extends object> {
  readonly #texts = new WeakMap<Value, Uint8Array>()
  readonly #write: (writer: JsonWriter, value: Value) => void
  readonly #maxCharacters: number

  /** @param maxCharacters longer texts are made anew each time. */
  constructor(
    write: (writer: JsonWriter, value: Value) => void,
    maxCharacters: number = Number.POSITIVE_INFINITY,
  ) {
    this.#write = write
    this.#maxCharacters = maxCharacters
  }

  /** Writes the text of `value`, which nobody changes any more. */
  write(writer: JsonWriter, value: Value): void {
    const text = this.#texts.get(value)
    if (text !== undefined) {
      writer.append(text)
      return
    }
    const from = writer.length
    this.#write(writer, value)
    if (writer.length - from <= this.#maxCharacters)
      this.#texts.set(value, writer.bytes.slice(from, writer.length))
  }
}
