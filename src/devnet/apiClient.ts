import type { Address, Hex } from 'viem'
import { DevnetError } from './devnetError.js'

/* The fields of the service's answers that a claim needs, written as a client of the API would write them. */

export interface BridgeAnswer {
  readonly tx_hash: Hex
  readonly deposit_count: number
  readonly origin_network: number
  readonly destination_network: number
  readonly destination_address: Address
  readonly amount: string
  readonly ready_for_claim: boolean
  readonly leaf_type: number
  readonly token_network: number
  readonly token_address: Address
  readonly metadata: Hex
  readonly claim_tx_hash: Hex | null
  readonly l1_info_tree_index: number | null
}

export interface ProofAnswer {
  readonly smtProofLocalExitRoot: readonly Hex[]
  readonly smtProofRollupExitRoot: readonly Hex[]
  readonly l1InfoTreeLeaf: { readonly mainnetExitRoot: Hex; readonly rollupExitRoot: Hex }
  readonly globalIndex: Hex
}

/** Names a deposit by its source network and its deposit count there. */
export interface DepositKey {
  readonly network: number
  readonly deposit: number
}

export interface ApiClient {
  readonly url: string
  /** @returns undefined while the deposit is not indexed. */
  findBridge(key: DepositKey): Promise<BridgeAnswer | undefined>
  /** Newest first. */
  listBridges(query: Readonly<Record<string, string | number | boolean>>): Promise<readonly BridgeAnswer[]>
  /** Smallest l1InfoTreeIndex with which the deposit can be claimed at its destination. */
  getL1InfoTreeIndex(key: DepositKey): Promise<number>
  getClaimProof(key: DepositKey, leafIndex: number): Promise<ProofAnswer>
}

/** The service answered with an error of its interface. */
class ApiError extends DevnetError {
  readonly code: string

  constructor(code: string, message: string) {
    super(`the API answers ${code}: ${message}`)
    this.code = code
  }
}

const longestAnswerMs = 10_000

/** @param url address of the service, without a path. Every method throws ApiError or, when nothing answers, DevnetError. */
export function createApiClient(url: string): ApiClient {
  async function get<T>(
    path: string,
    query: Readonly<Record<string, string | number | boolean>>,
  ): Promise<T> {
    const search = new URLSearchParams()
    for (const [key, value] of Object.entries(query)) search.set(key, String(value))
    let response: Response
    try {
      response = await fetch(`${url}/bridge/v1/${path}?${search}`, {
        signal: AbortSignal.timeout(longestAnswerMs),
      })
    } catch (cause) {
      throw new DevnetError(`the service at ${url} does not answer`, { cause })
    }
    const body = (await response.json()) as T & { error?: { code: string; message: string } }
    if (body.error !== undefined) throw new ApiError(body.error.code, body.error.message)
    return body
  }
  const parameters = ({ network, deposit }: DepositKey) => ({ network_id: network, deposit_count: deposit })

  return {
    url,
    async findBridge(key) {
      const { bridges } = await get<{ bridges: BridgeAnswer[] }>('bridges', parameters(key))
      return bridges[0]
    },
    async listBridges(query) {
      return (await get<{ bridges: BridgeAnswer[] }>('bridges', query)).bridges
    },
    async getL1InfoTreeIndex(key) {
      const answer = await get<{ l1_info_tree_index: number }>('l1-info-tree-index', parameters(key))
      return answer.l1_info_tree_index
    },
    async getClaimProof(key, leafIndex) {
      const query = { ...parameters(key), leaf_index: leafIndex }
      return (await get<{ proof: ProofAnswer }>('claim-proof', query)).proof
    },
  }
}
