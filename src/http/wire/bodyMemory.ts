/// <reference lib="es2024.arraybuffer" />

/** A shorter body is copied into a usual buffer: pages of its own would cost more than the copy. */
const LEAST_BYTES = 16 * 1024
const PAGE_BYTES = 4_096
/** Memory is used again for a body that fills this part of it. */
const LEAST_FILLED = 0.75
/** What goes back in one turn of the event loop, so that nobody waits for it. */
const STEP_BYTES = 1024 ** 2

/** How many hold memory that was taken here and not let go. */
const holders = new WeakMap<ArrayBufferLike, number>()
/** Memory that nobody holds; what was let go last comes last. */
const unused: ArrayBuffer[] = []
let unusedBytes = 0
/** Fewest of them since the last `giveBackNeedless`. */
let needlessBytes = 0
/** What is still to go back. */
let dueBytes = 0
let isStepDue = false

/**
 * @returns a copy, held by the caller once. A long one lies in pages of its own, which are used again, or go back to the system, soon after
 * the last holder has let go: from then on a view of it shows nothing or other bodies. A usual buffer would wait for V8, which lets 64 MiB of
 * them become garbage before it collects any, and collects nothing while the thread rests; and what V8 frees the C library keeps.
 */
export function copyOf(body: Uint8Array): Uint8Array {
  // Not `slice`: that of a `Buffer` is a view of the same memory.
  if (body.length < LEAST_BYTES) return new Uint8Array(body)
  const pages = takeUnused(body.length) ?? newPages(body.length)
  if (pages !== undefined) holders.set(pages, 1)
  const copy = pages === undefined ? Buffer.allocUnsafeSlow(body.length) : Buffer.from(pages, 0, body.length)
  // One `memcpy`, while `set` copies out of shared memory word by word.
  return copy.fill(body)
}

/** Keeps a body where it is until `letGo`. One in other memory stays as long as somebody refers to it. */
export function hold({ buffer }: Uint8Array): void {
  const count = holders.get(buffer)
  if (count !== undefined) holders.set(buffer, count + 1)
}

/** Call it once for each `copyOf` and `hold`. The caller must not use the body any more. */
export function letGo({ buffer }: Uint8Array): void {
  const count = holders.get(buffer)
  if (count === undefined) return
  if (count > 1) {
    holders.set(buffer, count - 1)
    return
  }
  holders.delete(buffer)
  unused.push(buffer as ArrayBuffer)
  unusedBytes += buffer.byteLength
}

/** Gives back what nobody has needed since the last call, in steps. To be called every ten seconds or so. */
export function giveBackNeedless(): void {
  dueBytes = needlessBytes
  needlessBytes = unusedBytes
  scheduleStep()
}

function takeUnused(length: number): ArrayBuffer | undefined {
  const at = unused.findLastIndex(
    ({ byteLength }) => byteLength >= length && byteLength * LEAST_FILLED <= length,
  )
  if (at < 0) return undefined
  const [pages] = unused.splice(at, 1)
  leftUnused(pages!.byteLength)
  return pages
}

/** @returns what `takePages` does. */
function newPages(length: number): ArrayBuffer | undefined {
  const maxByteLength = PAGE_BYTES * Math.ceil(length / PAGE_BYTES)
  // In place of what does not fit, so that all that was ever taken is no more than was once held.
  for (let more = maxByteLength; more > 0 && unused.length > 0; ) more -= giveBackOldest()
  return takePages(maxByteLength)
}

/** @returns memory of its own for `givePagesBack`; undefined where there is none of this kind: the system bounds the number of a process's mappings. */
export function takePages(maxByteLength: number): ArrayBuffer | undefined {
  try {
    return new ArrayBuffer(maxByteLength, { maxByteLength })
  } catch {
    return undefined
  }
}

/** The system has them back at once; the object itself is garbage. Other memory goes back some time after nobody refers to it. */
export function givePagesBack(pages: ArrayBufferLike): void {
  if (!(pages instanceof ArrayBuffer) || !pages.resizable) return
  try {
    pages.resize(0)
  } catch {
    // Near the bound on mappings the system refuses to split one. Then the pages go with the object.
  }
}

function giveBackOldest(): number {
  const pages = unused.shift()!
  const { byteLength } = pages
  leftUnused(byteLength)
  givePagesBack(pages)
  return byteLength
}

function leftUnused(bytes: number): void {
  unusedBytes -= bytes
  needlessBytes = Math.min(needlessBytes, unusedBytes)
}

function scheduleStep(): void {
  if (isStepDue || Math.min(dueBytes, unusedBytes) === 0) return
  isStepDue = true
  setImmediate(() => {
    isStepDue = false
    for (let left = Math.min(STEP_BYTES, dueBytes); left > 0 && unused.length > 0; ) {
      const bytes = giveBackOldest()
      left -= bytes
      dueBytes = Math.max(0, dueBytes - bytes)
    }
    scheduleStep()
  })
}
