// Shows what waits for an address, on all networks.
//   API=https://… node waitingFor.mjs ADDRESS
import { createBridgeClient } from 'bridge-data-service/client'

const [toAddress] = process.argv.slice(2)
const api = createBridgeClient({ baseUrl: process.env.API })
const { supportedNetworks } = await api.getHealth()

for (const networkId of supportedNetworks) {
  let lines = []
  const onRestart = () => {
    lines = []
  }
  for await (const bridge of api.bridges({ networkId, toAddress, claimed: false }, { onRestart })) {
    const what = bridge.leafType === 0 ? `${bridge.amount} of ${bridge.tokenAddress}` : 'a message'
    const state = bridge.readyForClaim ? 'can be claimed' : 'is on its way'
    lines.push(`${networkId}:${bridge.depositCount} → ${bridge.destinationNetwork} ${what} ${state}`)
  }
  for (const line of lines) console.log(line)
}
