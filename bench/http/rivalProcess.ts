import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { requireRival } from '../micro/project.js'
import { SqliteRival } from '../query/sqliteRival.js'
import { SqliteProofs } from './sqliteProofs.js'

type Query = Readonly<Record<string, string | undefined>>

interface Reply {
  header(name: string, value: string): Reply
  send(body: Buffer): Reply
}

/** The part of fastify that is used; its types come with it, and it is not installed with the project. */
interface Fastify {
  get(path: string, answer: (request: { readonly query: Query }, reply: Reply) => Reply): void
  listen(options: { readonly host: string; readonly port: number }): Promise<string>
}

// The rival: fastify in front of SQLite, in one thread: `node rivalProcess.js <database> <leaf index> <leaf as JSON>`.

const [, , path, leafIndex, leaf] = process.argv
const rival = SqliteRival.open(path!, createHasher(compileMerkleModule()))
const proofs = new SqliteProofs(path!)
proofs.addLeaf(Number(leafIndex), JSON.parse(leaf!))
const app = (requireRival('fastify') as () => Fastify)()
const page = ({ network_id, page_number = '1', page_size = '100' }: Query) => ({
  networkId: asNetworkId(Number(network_id)),
  pageNumber: Number(page_number),
  pageSize: Number(page_size),
})
const send = (reply: Reply, body: Buffer): Reply =>
  reply.header('content-type', 'application/json').send(body)
app.get('/bridge/v1/bridges', ({ query }, reply) =>
  send(
    reply,
    rival.bridges({
      ...page(query),
      ...(query.deposit_count === undefined
        ? {}
        : { depositCounts: [asDepositCount(Number(query.deposit_count))] }),
    }),
  ),
)
app.get('/bridge/v1/claims', ({ query }, reply) => send(reply, rival.claims(page(query))))
app.get('/bridge/v1/claim-proof', ({ query }, reply) =>
  send(reply, proofs.prove(Number(query.deposit_count), Number(query.leaf_index))),
)
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('disconnect', () => process.exit())
process.send!(Number(new URL(address).port))
