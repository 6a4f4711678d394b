import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asDepositCount, asNetworkId } from '../../../src/protocol/units.js'
import { bothTexts } from '../../support/bothTexts.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { IndexedWorld } from '../../support/indexedWorld.js'

const networkId = asNetworkId(0)
const page = { networkId, pageNumber: 1, pageSize: 10 }

// Around what the row writer's output holds in one go, and what its input has room for.
for (const bytes of [30_000, 124_200, 124_400, 131_000, 200_000, 520_000, 600_000])
  test(`a bridge with ${bytes} bytes of metadata is written whole, and leaves the rows beside and after it as they are`, (context) => {
    const world = createFakeWorld({ networks: [1] })
    world.network(0).mine((block) => {
      block.tx().deposit({ destinationNetwork: 1, amount: 1_234_567_890_123_456_789n })
      // Digits in hexadecimal: what is written over the row writer's own would still be numbers.
      block.tx().deposit({ destinationNetwork: 1, metadata: `0x${'77'.repeat(bytes)}` })
      block.tx().deposit({ destinationNetwork: 1, amount: 9_876_543_210n })
    })
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    for (const query of [page, page, { ...page, depositCounts: [asDepositCount(0)] }]) {
      const [plain, packed] = bothTexts(indexed, 'getBridges', query)
      assert.ok(
        packed === plain,
        `${packed.length} characters of ${plain.length}, at last ${packed.slice(-900)}`,
      )
    }
  })
