import type { Network } from '../client/bridgeClient.js'
import { pageNetwork } from './pageSettings.js'

/** What a wallet in the browser offers (EIP-1193). */
export interface Provider {
  request(question: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/** A wallet that has announced itself (EIP-6963). */
export interface Wallet {
  readonly id: string
  readonly name: string
  /** `data:…` of an image; undefined for anything else. */
  readonly icon: string | undefined
  readonly provider: Provider
}

const wallets = new Map<string, Wallet>()

/** Calls `tell` for each wallet of the browser, now and later. @returns ends that. */
export function findWallets(tell: (all: readonly Wallet[]) => void): () => void {
  const onAnnounce = (event: Event): void => {
    const { info, provider } = (
      event as CustomEvent<{ info: { uuid: string; name: string; icon: string }; provider: Provider }>
    ).detail
    const icon = /^data:image\//.test(info.icon) ? info.icon : undefined
    wallets.set(info.uuid, { id: info.uuid, name: info.name, icon, provider })
    tell([...wallets.values()])
  }
  addEventListener('eip6963:announceProvider', onAnnounce)
  dispatchEvent(new Event('eip6963:requestProvider'))
  return () => removeEventListener('eip6963:announceProvider', onAnnounce)
}

/** The wallets that have announced themselves by now; those that are there do so within the call. */
function walletsNow(): readonly Wallet[] {
  findWallets(() => undefined)()
  return [...wallets.values()]
}

/** The public endpoint of a network, as a provider; undefined where the configuration names none. */
export function publicProvider(networkId: number): Provider | undefined {
  const url = pageNetwork(networkId)?.rpcUrl
  if (url === undefined) return undefined
  return {
    async request({ method, params = [] }) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await response.json()) as {
        result?: unknown
        error?: { code: number; message: string }
      }
      if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
  }
}

/** `globalExitRootMap(bytes32)`. */
const EXIT_ROOT_MAP = '0x257b3632'

/**
 * Asks a network's contract what it knows of a global exit root.
 * @returns a word of 32 bytes: zero where it does not know it, on layer 1 the hash of the block before the one that recorded it.
 * @throws where the provider is on another chain, or does not answer.
 */
async function exitRootWord(provider: Provider, network: Network, globalExitRoot: string): Promise<string> {
  const chainId = await provider.request({ method: 'eth_chainId' })
  if (Number(chainId) !== network.chainId) throw new Error('The wallet is on another network.')
  const call = { to: network.globalExitRootManager, data: EXIT_ROOT_MAP + globalExitRoot.slice(2) }
  const word = await provider.request({ method: 'eth_call', params: [call, 'latest'] })
  if (typeof word !== 'string' || !/^0x[0-9a-f]{64}$/i.test(word))
    throw new Error('There is no such contract.')
  return word.toLowerCase()
}

/** What a network's contract knows of a global exit root. */
export interface ExitRootAnswer {
  /** Of `globalExitRootMap`. */
  readonly word: string
  /** Who passed the question on: `Some Wallet`, `its public endpoint`. */
  readonly by: string
}

/**
 * Asks the wallets that are on the network, then its public endpoint, what its contract knows of a global exit root.
 * @returns undefined where there is nobody to ask.
 */
export async function askExitRoot(
  network: Network,
  globalExitRoot: string,
): Promise<ExitRootAnswer | undefined> {
  const endpoint = publicProvider(network.networkId)
  const askable = [
    ...walletsNow().map(({ provider, name }) => ({ provider, by: `your wallet ${name}` })),
    ...(endpoint === undefined ? [] : [{ provider: endpoint, by: 'its public endpoint' }]),
  ]
  for (const { provider, by } of askable)
    try {
      return { word: await exitRootWord(provider, network, globalExitRoot), by }
    } catch {
      // The next one may be on this network.
    }
  return undefined
}
