import { checkedBody, RawConnection, requestText } from '../support/rawHttp.js'
import { randomNumbers } from '../support/testNumbers.js'
import { type FuzzRequest, makeRequest } from './grammar.js'

export interface FuzzOptions {
  readonly port: number
  readonly seed: number
  readonly connections: number
  /** Called before each request: true sends another one. */
  readonly goOn: (made: number) => boolean
  /** Whether a URL with bytes above 127 is a 400 that ends the connection, as on node:http. */
  readonly refusesHighBytes?: boolean
  /** Every how-many-th answer has its body checked. All statuses are checked. */
  readonly bodyEvery?: number
}

export interface FuzzReport {
  readonly made: number
  readonly aborted: number
  readonly byStatus: ReadonlyMap<number, number>
  /** Wrong answers, each with its request. */
  readonly faults: readonly string[]
}

const ENOUGH_FAULTS = 20
/** Share of clients that disconnect in the middle of a request, or send bytes that are no request. */
const LEAVING_SHARE = 0.01
const SPLIT_SHARE = 0.1
const HIGH_BYTE = /[\u0080-\u00ff]/

/** Sends requests of the grammar over keep-alive connections, some in two pieces, some incomplete. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const byStatus = new Map<number, number>()
  const faults: string[] = []
  let [made, aborted] = [0, 0]
  const goOn = (): boolean => faults.length < ENOUGH_FAULTS && options.goOn(made)

  const client = async (at: number): Promise<void> => {
    const random = randomNumbers(options.seed * 1_000 + at)
    let connection = new RawConnection(options.port)
    while (goOn()) {
      const request = makeRequest(random)
      made++
      const bytes = requestText(request.method, request.target, request.headers)
      if (random() < LEAVING_SHARE) {
        aborted++
        await leave(options.port, random() < 0.8 ? bytes : noise(random), random)
        continue
      }
      const split = random() < SPLIT_SHARE ? Math.floor(random() * bytes.length) : 0
      try {
        if (split > 0) {
          connection.send(bytes.slice(0, split))
          await new Promise(setImmediate)
        }
        connection.send(bytes.slice(split))
        const response = await connection.response(request.method !== 'HEAD')
        byStatus.set(response.status, (byStatus.get(response.status) ?? 0) + 1)
        const isRefused = options.refusesHighBytes === true && HIGH_BYTE.test(request.target)
        if (!(isRefused ? [400] : request.statuses).includes(response.status))
          throw new Error(`${response.status} ${response.body}`)
        if (made % (options.bodyEvery ?? 1) === 0) checkBody(request, response)
        // One answer to HEAD in 4,096 has Connection: close and ends its connection.
        if (response.headers.get('connection') === 'close') {
          if (request.method !== 'HEAD' && !isRefused) throw new Error('ends the connection')
          connection.destroy()
          connection = new RawConnection(options.port)
        }
      } catch (error) {
        faults.push(`${bytes}→ ${error instanceof Error ? error.message : String(error)}`)
        connection.destroy()
        connection = new RawConnection(options.port)
      }
    }
    connection.destroy()
  }
  await Promise.all(Array.from({ length: options.connections }, (_, at) => client(at)))
  return { made, aborted, byStatus, faults }
}

type Response = Awaited<ReturnType<RawConnection['response']>>

function checkBody(request: FuzzRequest, response: Response): void {
  if (request.method === 'HEAD' || response.status === 204) return
  if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return
  checkedBody(request.target.replace(/\?.*/s, ''), response)
}

/** Sends a part of a request and disconnects. */
async function leave(port: number, bytes: string, random: () => number): Promise<void> {
  const connection = new RawConnection(port)
  connection.send(bytes.slice(0, Math.ceil(random() * bytes.length)))
  await new Promise(setImmediate)
  connection.destroy()
}

function noise(random: () => number): string {
  const length = 1 + Math.floor(random() * 600)
  return String.fromCharCode(...Array.from({ length }, () => Math.floor(random() * 256)))
}
