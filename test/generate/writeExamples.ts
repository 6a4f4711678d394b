import { writeFileSync } from 'node:fs'
import { parseEther } from 'viem/utils'
import { operationIds, probeRoutes, routes, streamRoutes } from '../../src/api/routes.js'
import { bridgeAsset } from '../../src/devnet/actions.js'
import { createApiClient } from '../../src/devnet/apiClient.js'
import { type Devnet, startDevnet } from '../../src/devnet/devnet.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { devnetServiceConfig } from '../../src/devnet/serviceConfig.js'
import { startService } from '../../src/service/service.js'
import { createLogger } from '../../src/telemetry/logger.js'

/*
 * Writes src/api/docs/examples.ts: what a service on the devnet answers to each operation. `npm run generate:examples`, after a new operation
 * or field. The devnet has other hashes and times with each run, so all examples change.
 */

const FILE = new URL('../../../src/api/docs/examples.ts', import.meta.url)

const devnet = await startDevnet()
try {
  await playScenario(devnet)
  const config = devnetServiceConfig(devnet, { httpPort: 0, opsPort: 0 })
  const service = await startService({ config, logger: createLogger(config.log), announce: () => undefined })
  try {
    await service.caughtUp
    const answers = await askAll(service.url)
    writeExamples({ ...answers, getEvents: await readEvent(service.url, devnet) })
  } finally {
    await service.stop(0)
  }
} finally {
  await devnet.stop()
}

type Query = Readonly<Record<string, string | number>>

async function askAll(url: string): Promise<Record<string, { query: Query; answer: unknown }>> {
  const queries = await queriesOf(url)
  const asked = operationIds.map((id) => ({ id, path: routes[id].path as string, query: queries[id] }))
  const probes = Object.entries(probeRoutes).map(([id, { paths }]) => ({
    id,
    path: paths[0] as string,
    query: {},
  }))
  const examples: Record<string, { query: Query; answer: unknown }> = {}
  for (const { id, path, query } of [...asked, ...probes]) {
    if (query === undefined) throw new Error(`${id} has no query in ${import.meta.url}`)
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const response = await fetch(`${url}${path}?${search}`)
    if (response.status !== 200) throw new Error(`${id}: ${response.status} ${await response.text()}`)
    examples[id] = { query, answer: await response.json() }
  }
  return examples
}

/** The event of a deposit that is made while somebody reads events. */
async function readEvent(
  url: string,
  { chains, accounts }: Devnet,
): Promise<{ query: Query; answer: unknown }> {
  const query = { network_ids: 1, types: 'bridge' }
  const search = `network_ids=${query.network_ids}&types=${query.types}`
  const { body, status } = await fetch(`${url}${streamRoutes.getEvents.path}?${search}`)
  if (status !== 200 || body === null) throw new Error(`getEvents: ${status}`)
  const [, network1] = chains
  const { alice } = accounts
  await bridgeAsset(network1, {
    ...{
      destinationNetwork: 0,
      destinationAddress: alice,
      from: alice,
      amount: parseEther('0.25'),
      forced: true,
    },
  })
  let text = ''
  for await (const bytes of body) {
    text += Buffer.from(bytes).toString()
    const data = /^data: (.+)\n/m.exec(text)?.[1]
    if (data !== undefined) return { query, answer: JSON.parse(data) }
  }
  throw new Error('getEvents: the stream has ended')
}

/** Queries whose answers show as much as possible on few lines. */
async function queriesOf(url: string): Promise<Readonly<Partial<Record<string, Query>>>> {
  const bridges = await createApiClient(url).listBridges({ network_id: 1 })
  const ready = bridges.find(({ ready_for_claim: isReady }) => isReady)
  if (ready === undefined) throw new Error('the devnet has no bridge that is ready')
  const deposit = { network_id: 1, deposit_count: ready.deposit_count }
  return {
    getBridges: { network_id: 1, page_size: 2 },
    getClaims: { network_id: 1, page_size: 1 },
    getClaimProof: { ...deposit, leaf_index: Number(ready.l1_info_tree_index) },
    getL1InfoTreeIndex: deposit,
    getInjectedL1InfoLeaf: { network_id: 0, leaf_index: Number(ready.l1_info_tree_index) },
    getTokenMappings: { network_id: 1, page_size: 1 },
    getClaimTransaction: deposit,
    getBridgeStatus: deposit,
    getSearch: { q: `1:${ready.deposit_count}` },
  }
}

function writeExamples(examples: object): void {
  const text = `// Generated from the devnet: \`npm run generate:examples\`. Tests hold the answers against their schemas.

/** What was asked, and what the service answered. */
export interface Example {
  readonly query: Readonly<Record<string, unknown>>
  readonly answer: unknown
}

/** By operation id. */
export const examples: Readonly<Record<string, Example>> = ${JSON.stringify(examples, null, 2)}
`
  writeFileSync(FILE, text)
}
