// Claims every bridge that is ready, to each network that it has an endpoint for, until it is stopped.
//   API=https://… PRIVATE_KEY=0x… RPC_0=https://… RPC_1=https://… node claimBot.mjs
import { createBridgeClient } from 'bridge-data-service/client'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const api = createBridgeClient({ baseUrl: process.env.API })
const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const networkIds = Object.keys(process.env).flatMap((name) => name.match(/(?<=^RPC_)\d+$/)?.map(Number) ?? [])
const walletOn = (networkId) =>
  createWalletClient({ account, transport: http(process.env[`RPC_${networkId}`]) }).extend(publicActions)
const nameOf = ({ originNetwork, depositCount }) => `${originNetwork}:${depositCount}`
const wanted = new Map() // Until the service tells of the claim: a reorg may take one back before that.
const want = (bridge, networkId) =>
  wanted.has(nameOf(bridge)) || wanted.set(nameOf(bridge), { bridge, networkId, dueMs: 0, waitMs: 1_000 })
async function claim(job) {
  const wallet = walletOn(job.networkId) // A claim on its way is not sent again; one of others fails at the gas estimate.
  Object.assign(job, { dueMs: Date.now() + job.waitMs, waitMs: Math.min(2 * job.waitMs, 60_000) })
  if (!job.hash || !(await wallet.request({ method: 'eth_getTransactionByHash', params: [job.hash] }))) {
    const { chainId, ...call } = await api.claimTransaction(job.bridge)
    if ((await wallet.getChainId()) !== chainId) throw new Error(`not the endpoint of chain ${chainId}`)
    job.hash = await wallet.sendTransaction({ ...call, chain: null })
  }
  const { status } = await wallet.waitForTransactionReceipt({ hash: job.hash, timeout: 60_000 })
  if (status !== 'success') job.hash = undefined
}
setTimeout(async function work() {
  for (const job of wanted.values()) if (job.dueMs <= Date.now()) await claim(job).catch(console.error)
  setTimeout(work, 100)
})
async function wantAll(_position, onRestart = () => {}) {
  wanted.clear()
  for (const networkId of (await api.getHealth()).supportedNetworks)
    for await (const bridge of api.bridges({ networkId, networkIds, readyForClaim: true }, { onRestart }))
      want(bridge, bridge.destinationNetwork)
}
for await (const event of api.events({ networkIds }, { onStart: wantAll }))
  if (event.type === 'claimable') want(event, event.networkId)
  else if (event.type === 'claim' || event.type === 'unclaimable') wanted.delete(nameOf(event))
  else if (event.type === 'resumed' || event.isHistory) await wantAll().catch(console.error)
