import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../../errors/operatorError.js'
import { UsageError } from '../input/verb.js'

/** What a service answers to one question. Its numbers of more than 53 bits are texts. */
export interface Told {
  readonly status: number
  readonly json: unknown
}

/** A service does not answer, or not what its API promises. */
export class NoAnswerError extends OperatorError {
  override readonly name: 'OperatorError' = 'OperatorError'
}

const LONGEST_WAIT_MS = 30_000
const TRIES = 3
/** What lies between two tries where the service names no time. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** What passes by itself: limits and overload. */
const PASSING = new Set([429, 502, 503, 504])

/** One of two services that speak the same API. */
export class AskedService {
  /** Who it is, as `our service (host:port)`: no user, path or query of its address, which may be keys. */
  readonly name: string
  readonly #base: string
  readonly #query: string
  readonly #headers: Readonly<Record<string, string>>

  /** @throws UsageError when the address is none. */
  constructor(whose: 'our service' | 'the other service', flag: string, address: string) {
    const url = URL.canParse(address) ? new URL(address) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol))
      throw new UsageError(`${flag} is not an address like http://host:port/path`)
    this.name = `${whose} (${url.host})`
    const user = decodeURIComponent(url.username)
    const password = decodeURIComponent(url.password)
    // `fetch` takes no address with a user in it.
    this.#headers =
      user === '' && password === ''
        ? {}
        : { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
    this.#base = url.origin + url.pathname.replace(/\/+$/, '')
    this.#query = url.search.slice(1)
  }

  /**
   * @param path below the base path, with its query string.
   * @throws NoAnswerError when nothing answers, also when it is asked again, or the answer is no JSON.
   */
  async ask(path: string): Promise<Told> {
    const [, word = path] = /^([^?]*)/.exec(path) ?? []
    for (let left = TRIES - 1, pauseMs = FIRST_PAUSE_MS; ; left--, pauseMs *= 2) {
      let status: number
      let text: string
      let waitSec: number
      try {
        const response = await fetch(this.#base + this.#withKey(path), {
          headers: this.#headers,
          signal: AbortSignal.timeout(LONGEST_WAIT_MS),
        })
        status = response.status
        text = await response.text()
        waitSec = Number(response.headers.get('retry-after') ?? Number.NaN)
      } catch {
        if (left === 0) throw new NoAnswerError(`${this.name} does not answer to ${word}`)
        await delay(pauseMs)
        continue
      }
      if (PASSING.has(status) && left > 0) {
        await delay(Math.min(LONGEST_PAUSE_MS, Number.isFinite(waitSec) ? waitSec * 1000 : pauseMs))
        continue
      }
      const json = parsed(text)
      if (json === undefined || PASSING.has(status))
        throw new NoAnswerError(
          `${this.name} answered ${status} to ${word}${json === undefined ? ', and no JSON' : ''}`,
        )
      return { status, json }
    }
  }

  #withKey(path: string): string {
    if (this.#query === '') return path
    return path + (path.includes('?') ? '&' : '?') + this.#query
  }
}

const TEXT_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|\b\d{16,}\b/g

/** @returns undefined for a text that is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(TEXT_OR_LONG_NUMBER, (part) => (part[0] === '"' ? part : `"${part}"`)))
  } catch {
    return undefined
  }
}
