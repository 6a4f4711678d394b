import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { compileSchema } from '../../src/api/parse/parseQuery.js'
import { routes } from '../../src/api/routes.js'
import { ErrorResponse } from '../../src/api/schemas.js'

/** One response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  /** Lower-case names. A header that comes twice throws. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** The body as sent, in whatever coding. */
  readonly bytes: Buffer
}

const CRLF = '\r\n'

/** A connection that sends given bytes and reads responses by their Content-Length. */
export class RawConnection {
  readonly socket: Socket
  private received = ''
  private isEnded = false
  private wake: (() => void) | undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (chunk: string) => {
      this.received += chunk
      this.wake?.()
    })
    const end = (): void => {
      this.isEnded = true
      this.wake?.()
    }
    this.socket.on('close', end)
    this.socket.on('error', end)
  }

  send(bytes: string): this {
    this.socket.write(bytes, 'latin1')
    return this
  }

  /** Sends one byte per write and lets each one leave before the next. */
  async sendSlowly(bytes: string): Promise<void> {
    for (const byte of bytes) {
      await new Promise<void>((resolve) => {
        this.socket.write(byte, 'latin1', () => resolve())
      })
      await new Promise(setImmediate)
    }
  }

  /** The next response. @param hasBody false for HEAD: then nothing may follow the head. */
  async response(hasBody = true): Promise<RawResponse> {
    const head = await this.until((text) => {
      const end = text.indexOf(CRLF + CRLF)
      return end < 0 ? undefined : end + 4
    })
    const [statusLine = '', ...lines] = head.trimEnd().split(CRLF)
    // Bytes left over by an earlier response would precede this one.
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]
    assert.ok(status !== undefined, `not a status line: ${statusLine.slice(0, 100)}`)
    const headers = new Map<string, string>()
    for (const line of lines) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).toLowerCase()
      assert.ok(!headers.has(name), `header ${name} came twice`)
      headers.set(name, line.slice(colon + 1).trim())
    }
    const length = hasBody ? Number(headers.get('content-length') ?? 0) : 0
    const body = await this.until((text) => (text.length >= length ? length : undefined))
    const bytes = Buffer.from(body, 'latin1')
    return { status: Number(status), headers, body: bytes.toString(), bytes }
  }

  /** All bytes until the server closes the connection. */
  async rest(): Promise<string> {
    while (!this.isEnded) await this.more()
    return this.received
  }

  destroy(): void {
    this.socket.destroy()
  }

  private async until(sizeIn: (text: string) => number | undefined): Promise<string> {
    for (;;) {
      const size = sizeIn(this.received)
      if (size !== undefined) {
        const taken = this.received.slice(0, size)
        this.received = this.received.slice(size)
        return taken
      }
      if (this.isEnded) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`)
      await this.more()
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve
    })
  }
}

export function requestText(
  method: string,
  target: string,
  headers: readonly string[] = [],
  host = 'localhost',
): string {
  return [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...headers, '', ''].join(CRLF)
}

/** One request on a connection of its own. */
export async function fetchRaw(
  port: number,
  method: string,
  target: string,
  headers: readonly string[] = [],
  host?: string,
): Promise<RawResponse> {
  const connection = new RawConnection(port)
  const request = requestText(method, target, headers, host)
  const response = await connection.send(request).response(method !== 'HEAD')
  connection.destroy()
  return response
}

const validateError = compileSchema(ErrorResponse)
const validators = new Map(
  Object.values(routes).map((route) => [route.path as string, compileSchema(route.response)]),
)

/** Checks the body against the schema of its route, or of an error. @returns the parsed body. */
export function checkedBody(target: string, response: RawResponse): unknown {
  const body: unknown = JSON.parse(response.body)
  const path = target.split('?')[0]!.replace(/(?<=.)\/$/, '')
  const validate = response.status >= 400 ? validateError : validators.get(path)
  if (validate !== undefined) assert.ok(validate(body), `${target}: ${JSON.stringify(validate.errors)}`)
  return body
}

export function assertRefusal(
  response: RawResponse,
  status: number,
  code: string,
  message: string | RegExp,
): void {
  const { error } = checkedBody('', response) as { error: { code: string; message: string } }
  assert.deepEqual([response.status, error.code], [status, code])
  if (typeof message === 'string') assert.equal(error.message, message)
  else assert.match(error.message, message)
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
}
