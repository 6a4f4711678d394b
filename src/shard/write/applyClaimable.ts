import { decodeClaimableRow, encodeClaimableRow } from '../../store/feed/claimableRow.js'
import { metaKey, uint32PairKey } from '../../store/layout/keys.js'
import { decodeCommits } from '../../store/layout/metaValues.js'
import type { WriteView } from '../../store/shardStore.types.js'
import { putClaimableTold } from '../position/feedPosition.js'
import type { ClaimableNews } from '../shardCommand.types.js'
import type { Feed } from './feed.js'
import { refuse } from './refuse.js'
import type { WriterMemory } from './writerMemory.js'

/**
 * Tells the feed what can be claimed here and what cannot any more, and keeps what was told. Everything is written unseen: it answers no
 * other question, and no reorg takes it back; what a reorg changes is worked out anew.
 * @throws Refusal when the shard has changed since: a claim that came in between would be told before its deposit is claimable.
 */
export function applyClaimable(
  view: WriteView,
  { networkId, addresses }: Pick<WriterMemory, 'networkId' | 'addresses'>,
  feed: Feed,
  { madeFrom, stage, claimable, unclaimable }: ClaimableNews,
): void {
  const own = madeFrom.find((version) => version.networkId === networkId)
  const commits = decodeCommits(view.get('meta', metaKey('commits')))
  if (own?.commits !== commits)
    refuse(
      'outdated',
      `worked out from commit ${own?.commits ?? 'none'}, the shard is at ${commits ?? 'none'}`,
    )
  const isTold = stage === 'news'
  for (const { sourceNetwork, depositCount } of unclaimable) {
    const key = uint32PairKey(sourceNetwork, depositCount)
    const stored = view.get('claimable', key)
    if (stored === undefined) continue
    const { destinationAddress } = decodeClaimableRow(stored.slice())
    view.removeUnseen('claimable', key)
    if (isTold) feed.tell({ type: 'unclaimable', sourceNetwork, depositCount, destinationAddress })
  }
  for (const { destinationAddress, ...deposit } of claimable) {
    const row = { ...deposit, destinationAddress: addresses.at(addresses.numberOf(destinationAddress)) }
    view.putUnseen(
      'claimable',
      uint32PairKey(deposit.sourceNetwork, deposit.depositCount),
      encodeClaimableRow(row),
    )
    if (isTold) feed.tell({ type: 'claimable', ...row })
  }
  if (stage !== 'historyEnd') return
  putClaimableTold(view, true)
  feed.tellSync({ isHistory: true })
}
