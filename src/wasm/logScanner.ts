import type { EventFilter } from '../events/decodeLog.js'
import { eventsOf, type LogScanner, PackedLogs } from '../events/packedLogs.js'
import { decodeHex } from '../protocol/hex.js'

/** Exports of assembly/index.ts that read logs. */
export interface LogExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly LOG_TEXT: { readonly value: number }
  readonly LOG_RECORDS: { readonly value: number }
  readonly LOG_FILTER: { readonly value: number }
  readonly LOG_RESULT: { readonly value: number }
  scanLogs(length: number, events: number): void
}

// As in assembly/logs.ts.
const TEXT_BYTES = 131_072
const FILTER_BYTES = 56
const MOST_EVENTS = 128

/** Hands the text to the instance a piece at a time, and gathers the records. */
export function createWasmLogScanner(wasm: LogExports): LogScanner {
  const { buffer } = wasm.memory
  const text = new Uint8Array(buffer, wasm.LOG_TEXT.value, TEXT_BYTES)
  const records = new Uint8Array(buffer, wasm.LOG_RECORDS.value, TEXT_BYTES)
  const entries = new Uint8Array(buffer, wasm.LOG_FILTER.value, MOST_EVENTS * FILTER_BYTES)
  const result = new Uint32Array(buffer, wasm.LOG_RESULT.value, 3)
  const heads = new DataView(buffer, wasm.LOG_RECORDS.value, TEXT_BYTES)
  let filterAtHand: EventFilter | undefined
  /** Memory that the records of the next answer will probably need: a little more than the last one's. None is kept between answers. */
  let expectedBytes = TEXT_BYTES

  const select = (filter: EventFilter): void => {
    if (filter === filterAtHand) return
    eventsOf(filter).forEach(({ address, topic }, index) => {
      entries.set(decodeHex(topic)!, FILTER_BYTES * index)
      entries.set(decodeHex(address)!, FILTER_BYTES * index + 32)
    })
    filterAtHand = filter
  }

  return {
    scan(answer, from, filter) {
      const events = eventsOf(filter)
      if (events.length > MOST_EVENTS) return undefined
      select(filter)
      /** Records of the answer, gathered. */
      let packed = new Uint8Array(expectedBytes)
      let length = 0
      let count = 0
      for (let at = from; at < answer.length; ) {
        const piece = answer.subarray(at, at + TEXT_BYTES)
        text.set(piece)
        wasm.scanLogs(piece.length, events.length)
        const [taken, made, isEnd] = result as unknown as [number, number, number]
        if (taken === 0) return undefined
        if (length + made > packed.length) {
          const larger = new Uint8Array(2 * (length + made))
          larger.set(packed.subarray(0, length))
          packed = larger
        }
        packed.set(records.subarray(0, made), length)
        for (let record = 0; record < made; record += heads.getUint32(record, true)) count++
        length += made
        at += taken
        if (isEnd !== 1) continue
        expectedBytes = Math.max(TEXT_BYTES, length + (length >> 3))
        // The logs may live long: they keep this memory only when it is mostly theirs.
        const isFull = 2 * length > packed.length
        const bytes = isFull ? packed.subarray(0, length) : packed.slice(0, length)
        return { logs: new PackedLogs(bytes, count, events), end: at }
      }
      return undefined
    },
  }
}
