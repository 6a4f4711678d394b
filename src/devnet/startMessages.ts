import type { ApiClient, BridgeAnswer } from './apiClient.js'

/** Deposits that the printed commands name. Undefined where the devnet has none of that kind. */
interface Examples {
  readonly ready: BridgeAnswer | undefined
  readonly claimed: BridgeAnswer | undefined
  readonly pending: BridgeAnswer | undefined
}

/**
 * What a person reads when the devnet is up: commands to copy, with ids that exist.
 * @param command how this program is called, for the claim command.
 */
export async function startMessage(
  api: ApiClient,
  { command, opsUrl, roundMs }: { command: string; opsUrl: string; roundMs: number },
): Promise<string> {
  const { ready, claimed, pending } = await findExamples(api)
  const get = (path: string): string => `  curl -s '${api.url}${path}'`
  const oneBridge = (bridge: BridgeAnswer): string =>
    get(`/bridge/v1/bridges?network_id=${bridge.origin_network}&deposit_count=${bridge.deposit_count}`)

  const lines = [
    '',
    `The devnet is up: an L1 (network 0) and two L2s (networks 1 and 2), served at ${api.url}`,
    '',
    'Health, and how far the chains are indexed',
    get('/bridge/v1/'),
    get('/bridge/v1/sync-status'),
    'Bridges, claims and wrapped tokens',
    get('/bridge/v1/bridges?network_id=0&page_size=3'),
    get('/bridge/v1/claims?network_id=1'),
    get('/bridge/v1/token-mappings?network_id=1'),
  ]
  if (claimed !== undefined) lines.push('A bridge that was claimed', oneBridge(claimed))
  if (pending !== undefined) lines.push('A bridge that waits, or became ready meanwhile', oneBridge(pending))
  if (ready !== undefined) {
    const deposit = `network_id=${ready.origin_network}&deposit_count=${ready.deposit_count}`
    lines.push(
      'A bridge that is ready: the record, the index of the leaf to use, the proof',
      oneBridge(ready),
      get(`/bridge/v1/l1-info-tree-index?${deposit}`),
      get(`/bridge/v1/claim-proof?${deposit}&leaf_index=${ready.l1_info_tree_index}`),
      '',
      `Claim it on the contract of network ${ready.destination_network}, with the proof from the API`,
      `  ${command} devnet claim --network ${ready.origin_network} --deposit ${ready.deposit_count}`,
    )
  }
  lines.push('', `Metrics: ${opsUrl}/metrics`)
  if (roundMs > 0)
    lines.push(
      `A deposit comes every ${roundMs / 1000} s from now on, and now and then a settlement, an injection, a claim.`,
    )
  lines.push('Ctrl-C stops everything and leaves nothing behind.')
  return lines.join('\n')
}

async function findExamples(api: ApiClient): Promise<Examples> {
  const bridges: BridgeAnswer[] = []
  for (const networkId of [1, 0, 2]) bridges.push(...(await api.listBridges({ network_id: networkId })))
  return {
    ready: bridges.find(({ ready_for_claim }) => ready_for_claim),
    claimed: bridges.find(({ claim_tx_hash }) => claim_tx_hash !== null),
    pending: bridges.find(({ ready_for_claim, claim_tx_hash }) => !ready_for_claim && claim_tx_hash === null),
  }
}
