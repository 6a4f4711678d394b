import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startAnvils } from '../../src/devnet/anvil.js'
import { createDevnetClient, getDevnetAccounts, send } from '../../src/devnet/devnetChain.js'
import { tempFolder } from '../support/tempFolder.js'

test('a transaction that the node leaves out of its blocks is mined all the same', async (t) => {
  const group = await startAnvils([{ chainId: 1 }], join(tempFolder(t), 'nodes-'))
  t.after(() => group.stop())
  const client = createDevnetClient(group.anvils[0]!.rpcUrl)
  const { alice, bob } = await getDevnetAccounts(client)
  await client.setAutomine(false)
  const receipt = await send(client, { from: alice, to: bob, value: 1n })
  assert.equal(receipt.status, 'success')
})
