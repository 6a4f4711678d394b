import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export interface LoadTarget {
  readonly path: string
  /** The only right body. */
  readonly body: string
}

export interface LoadReport {
  readonly answered: number
  /** Faults in words. Empty: every request got its right answer. */
  readonly failures: readonly string[]
}

export interface SteadyLoad {
  answered(): number
  /** Stops the load after the requests on their way. */
  stop(): Promise<LoadReport>
}

/** Pause between an answer and the client's next request: the load must leave the instances time to start. */
const PAUSE_MS = 4

/** Asks on `connections` keep-alive connections, one request after the other on each, until it is stopped. */
export function startLoad(port: number, connections: number, targets: readonly LoadTarget[]): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const failures: string[] = []
  let answered = 0
  let isStopping = false
  const client = async (first: number): Promise<void> => {
    for (let turn = first; !isStopping; turn++) {
      const { path, body } = targets[turn % targets.length]!
      try {
        const answer = await get(agent, port, path)
        if (answer.status === 200 && answer.body === body) answered++
        else failures.push(`${path}: ${answer.status} ${answer.body.slice(0, 200)}`)
      } catch (error) {
        failures.push(`${path}: ${String(error)}`)
      }
      await delay(PAUSE_MS)
    }
  }
  const clients = Array.from({ length: connections }, (_, at) => client(at))
  return {
    answered: () => answered,
    async stop() {
      isStopping = true
      await Promise.all(clients)
      agent.destroy()
      return { answered, failures }
    },
  }
}

function get(agent: Agent, port: number, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const receive = (response: IncomingMessage): void => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      response.on('error', reject)
    }
    const sent = request({ agent, host: '127.0.0.1', port, path, timeout: 20_000 }, receive)
    sent.on('timeout', () => sent.destroy(new Error('no answer within 20 s')))
    sent.on('error', reject)
    sent.end()
  })
}
