import { isAscii } from 'node:buffer'

/** An answer as it came, whatever its status. */
export interface HttpAnswer {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly body: string
}

export type HttpPost = (body: string, signal: AbortSignal) => Promise<HttpAnswer>

/** The endpoint said nothing, or not all of it, in time. */
export class HttpTimeout extends Error {
  override readonly name = 'HttpTimeout'
}

/** The answer is longer than the cap: the rest of it is not read. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
}

/**
 * POSTs JSON to one address, each time bounded in time (headers and body together) and size. viem's client does the same
 * for a third more CPU time: it decodes piece by piece, as UTF-8, while answers of nodes are ASCII.
 */
export function createHttpPost(options: {
  readonly url: string
  readonly timeoutMs: number
  readonly maxBodyBytes: number
}): HttpPost {
  const { url, headers } = splitCredentials(options.url)
  return async (body, signal) => {
    signal.throwIfAborted()
    const controller = new AbortController()
    const abort = () => controller.abort(signal.reason)
    signal.addEventListener('abort', abort)
    const timer = setTimeout(() => controller.abort(new HttpTimeout()), options.timeoutMs)
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal: controller.signal })
      const { ok, status, statusText, headers: answerHeaders } = response
      const text = await readBody(response, options.maxBodyBytes)
      return { ok, status, statusText, headers: answerHeaders, body: text }
    } catch (error) {
      // fetch may wrap the reason, or tell of the connection that it cut.
      if (controller.signal.aborted) throw controller.signal.reason
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }
}

/** fetch refuses addresses with a user and password: they go into a header. */
function splitCredentials(address: string): { url: string; headers: Record<string, string> } {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  const url = new URL(address)
  if (url.username === '' && url.password === '') return { url: address, headers }
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  url.username = ''
  url.password = ''
  return { url: url.toString(), headers }
}

/** @throws BodyTooLong */
async function readBody(response: Response, maxBytes: number): Promise<string> {
  const { body } = response
  if (body === null) return ''
  if (Number(response.headers.get('content-length')) > maxBytes) {
    await body.cancel()
    throw new BodyTooLong()
  }
  const pieces: Uint8Array[] = []
  let length = 0
  const reader = body.getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    length += piece.value.length
    if (length > maxBytes) {
      await reader.cancel()
      throw new BodyTooLong()
    }
    pieces.push(piece.value)
  }
  const bytes = Buffer.concat(pieces, length)
  // The same text, in a seventh of the time.
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}
