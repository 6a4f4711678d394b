import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skipWithout } from '../../support/installedProgram.js'
import { deadline, TEST_LIMIT_MS } from './natsProcesses.js'
import { ReplicaProcesses } from './replicaProcesses.js'

const options = { skip: skipWithout('nats-server'), timeout: TEST_LIMIT_MS }

test(
  'the instance that leads is killed three times, each server once, while the chain goes on and reorganises itself: another one goes on, and all shards hold what the log says',
  options,
  async (context) => {
    const cluster = await ReplicaProcesses.start(context)
    const { network, servers } = cluster
    for (const at of servers.servers.keys()) {
      await cluster.inStep()
      const leader = cluster.leader()
      await leader.kill()
      network.reorg({ depth: 2, blocks: 'shift' })
      await cluster.inStep()
      assert.notEqual(cluster.leader(), leader)
      await servers.kill(at)
      await cluster.inStep()
      servers.start(at)
      await servers.untilHealthy(at)
      leader.start()
    }
    await cluster.inStep()
    const counts = await cluster.endWell(deadline(context))
    assert.deepEqual(new Set(counts), new Set([network.deposits().length]))
  },
)
