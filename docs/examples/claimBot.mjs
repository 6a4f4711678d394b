// Claims every bridge that is ready, to each network that it has an endpoint for, until it is stopped.
//   API=https://… PRIVATE_KEY=0x… RPC_0=https://… RPC_1=https://… node claimBot.mjs
import { createBridgeClient } from 'bridge-data-service/client'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const api = createBridgeClient({ baseUrl: process.env.API })
const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const wallets = new Map()
for (const [name, url] of Object.entries(process.env))
  if (/^RPC_\d+$/.test(name))
    wallets.set(
      Number(name.slice(4)),
      createWalletClient({ account, transport: http(url) }).extend(publicActions),
    )
const networkIds = [...wallets.keys()]

async function claim(bridge, wallet) {
  const { chainId, ...call } = await api.claimTransaction(bridge)
  if ((await wallet.getChainId()) !== chainId) throw new Error(`not the endpoint of chain ${chainId}`)
  // Estimates the gas first: a bridge that is claimed meanwhile is refused there, and nothing is sent.
  const hash = await wallet.sendTransaction({ ...call, chain: null })
  const { status } = await wallet.waitForTransactionReceipt({ hash })
  console.log(`${bridge.originNetwork}:${bridge.depositCount} ${status} ${hash}`)
}
const told = ({ message }) => console.error(message)

/** What can be claimed already. A row that comes twice does no harm: what is claimed is refused. */
async function claimAll() {
  for (const networkId of (await api.getHealth()).supportedNetworks)
    for await (const bridge of api.bridges(
      { networkId, networkIds, readyForClaim: true },
      { onRestart() {} },
    ))
      await claim(bridge, wallets.get(bridge.destinationNetwork)).catch(told)
}

for await (const event of api.events({ networkIds }, { onStart: claimAll }))
  if (event.type === 'claimable') await claim(event, wallets.get(event.networkId)).catch(told)
  else if (event.type === 'resumed' || event.isHistory) await claimAll().catch(told)
