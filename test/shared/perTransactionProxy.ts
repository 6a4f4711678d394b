import type { Cleaner } from '../support/tempFolder.js'
import { serveAnswers } from '../support/wireServer.js'

interface Reply {
  readonly id: number
  readonly result?: unknown
}

interface ToldLog {
  readonly transactionHash: string
  readonly transactionIndex: string
  logIndex: string
}

/** A proxy that numbers the logs of each transaction from 0, in front of a node that numbers those of a block. */
export async function servePerTransaction(context: Cleaner, node: string): Promise<string> {
  const post = async (body: string) =>
    (await (
      await fetch(node, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    ).json()) as Reply | Reply[]
  const firsts = new Map<string, Promise<number>>()
  const firstOf = (hash: string): Promise<number> => {
    const known = firsts.get(hash)
    if (known !== undefined) return known
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] }
    const asked = post(JSON.stringify(call)).then((reply) => {
      const { result } = reply as { readonly result: { readonly logs: readonly ToldLog[] } }
      return Number(result.logs[0]!.logIndex)
    })
    firsts.set(hash, asked)
    return asked
  }
  const recount = async (value: unknown): Promise<void> => {
    if (Array.isArray(value)) for (const each of value) await recount(each)
    else if (isLog(value)) {
      const index = Number(value.logIndex) - (await firstOf(value.transactionHash))
      value.logIndex = `0x${index.toString(16)}`
    } else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) await recount(each)
  }
  const { url, close } = await serveAnswers(async (body) => {
    const reply = await post(body)
    await recount(reply)
    return { body: JSON.stringify(reply) }
  })
  context.after(close)
  return url
}

/** Logs in traces have no index. */
function isLog(value: unknown): value is ToldLog {
  return typeof value === 'object' && value !== null && 'logIndex' in value && 'transactionHash' in value
}
