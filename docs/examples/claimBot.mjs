// Claims every bridge that is ready, to each network that it has an endpoint for, until it is stopped.
//   API=https://… PRIVATE_KEY=0x… RPC_0=https://… RPC_1=https://… node claimBot.mjs
import { setTimeout as sleep } from 'node:timers/promises'
import { createBridgeClient } from 'bridge-data-service/client'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const api = createBridgeClient({ baseUrl: process.env.API })
const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const wallets = new Map()
for (const [name, url] of Object.entries(process.env))
  if (/^RPC_\d+$/.test(name)) wallets.set(Number(name.slice(4)), walletOn(url))

function walletOn(url) {
  return createWalletClient({ account, transport: http(url) }).extend(publicActions)
}

async function claim(bridge) {
  const wallet = wallets.get(bridge.destinationNetwork)
  const { chainId, ...call } = await api.claimTransaction(bridge)
  if ((await wallet.getChainId()) !== chainId) throw new Error(`not the endpoint of chain ${chainId}`)
  // Estimates the gas first: a bridge that is claimed meanwhile is refused there, and nothing is sent.
  const hash = await wallet.sendTransaction({ ...call, chain: null })
  const { status } = await wallet.waitForTransactionReceipt({ hash })
  console.log(
    `${bridge.originNetwork}:${bridge.depositCount} → ${bridge.destinationNetwork} ${status} ${hash}`,
  )
}

for (; ; await sleep(Number(process.env.POLL_MS ?? 10_000)))
  try {
    for (const networkId of (await api.getHealth()).supportedNetworks) {
      const filter = { networkId, networkIds: [...wallets.keys()], readyForClaim: true }
      // A row that comes twice does no harm: what is claimed is refused.
      for await (const bridge of api.bridges(filter, { onRestart() {} }))
        await claim(bridge).catch(({ message }) => console.error(message))
    }
  } catch ({ message }) {
    console.error(message)
  }
