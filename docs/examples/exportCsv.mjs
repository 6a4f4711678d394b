// Writes all bridges of a network into a file, oldest first.
//   API=https://… node exportCsv.mjs NETWORK FILE
import { open } from 'node:fs/promises'
import { createBridgeClient } from 'bridge-data-service/client'

const [network, path] = process.argv.slice(2)
const api = createBridgeClient({ baseUrl: process.env.API })
const columns = ['depositCount', 'blockTimestamp', 'txHash', 'originAddress', 'destinationNetwork']
columns.push('destinationAddress', 'tokenNetwork', 'tokenAddress', 'amount', 'globalIndex', 'claimTxHash')

const file = await open(path, 'a')
const begin = async () => {
  await file.truncate(0)
  await file.write(`${columns.join(',')}\n`)
}
await begin()
// A reorg while we read: all rows come again, so the file begins again.
for await (const bridge of api.bridges({ networkId: Number(network), pageSize: 1000 }, { onRestart: begin }))
  await file.write(`${columns.map((name) => bridge[name] ?? '').join(',')}\n`)
await file.close()
