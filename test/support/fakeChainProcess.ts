import { createFakeWorld, type FakeWorld, type Recipe } from './fakeChain.js'
import { buildSmallWorld } from './fakeChainScenario.js'
import { type FakeRpcServer, serveFakeNetwork } from './fakeRpcServer.js'
import type { FakeChainCommand, FakeChainReply, FakeOperation } from './forkFakeChain.js'

/**
 * A fake world with one endpoint per network in a process of its own. `node fakeChainProcess.js` serves the small world
 * and prints one JSON line with its endpoints; under `forkFakeChain` it obeys commands.
 */
async function serve(world: FakeWorld): Promise<Map<number, FakeRpcServer>> {
  const servers = new Map<number, FakeRpcServer>()
  for (const networkId of world.networkIds)
    servers.set(networkId, await serveFakeNetwork(world.network(networkId)))
  return servers
}

function recipeOf(operations: readonly FakeOperation[]): Recipe {
  return (block) => {
    for (const { tx, calls } of operations) {
      const transaction = block.tx(tx ?? {})
      for (const [name, ...args] of calls)
        (transaction[name] as (...args: readonly unknown[]) => unknown).apply(transaction, args)
    }
  }
}

function obey(
  world: FakeWorld,
  servers: ReadonlyMap<number, FakeRpcServer>,
  command: FakeChainCommand,
): unknown {
  const network = world.network(command.networkId)
  const { endpoint } = servers.get(command.networkId)!
  switch (command.type) {
    case 'mine':
      return network.mine(recipeOf(command.operations)).number
    case 'mineEmpty':
      return network.mineEmpty(command.count)
    case 'reorg':
      return network.reorg({ depth: command.depth, blocks: command.blocks, extra: command.extra })
    case 'fail':
      return void endpoint.fail(command.fault)
    case 'clearFaults':
      return endpoint.clearFaults()
    case 'deposits':
      return network.deposits()
    case 'claims':
      return network.claims()
    case 'roots':
      return {
        localExitRoot: network.localExitRoot(),
        globalExitRoot: network.head.state.l1InfoLeaves.at(-1)?.globalExitRoot ?? null,
      }
    case 'calls':
      return Object.fromEntries(endpoint.calls)
  }
}

const options = process.argv[2] ? (JSON.parse(process.argv[2]) as { networks?: number[] }) : undefined
const world = options?.networks ? createFakeWorld({ networks: options.networks }) : buildSmallWorld().world
const servers = await serve(world)
const endpoints = [...servers].map(([networkId, { url }]) => ({
  networkId,
  url,
  chainId: world.network(networkId).chainId,
  ...world.network(networkId).contracts,
}))
if (process.send) {
  process.on('message', ({ id, command }: { id: number; command: FakeChainCommand }) => {
    let reply: FakeChainReply
    try {
      reply = { id, ok: true, value: obey(world, servers, command) }
    } catch (error) {
      reply = { id, ok: false, message: String(error) }
    }
    process.send!(reply)
  })
  process.on('disconnect', () => process.exit(0))
  process.send({ id: 0, ok: true, value: endpoints } satisfies FakeChainReply)
} else process.stdout.write(`${JSON.stringify({ endpoints })}\n`)
