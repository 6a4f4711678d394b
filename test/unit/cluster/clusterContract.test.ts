import { holdsClusterContract } from '../../support/clusterContract.js'
import { FakeCluster, FakeMember } from '../../support/fakeCluster.js'
import { VirtualClock } from '../../support/virtualClock.js'

holdsClusterContract('the fake', () => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(clock)
  cluster.maxLogBytes = 1_000_000
  return { clock, maxLogBytes: cluster.maxLogBytes, member: () => new FakeMember(cluster) }
})
