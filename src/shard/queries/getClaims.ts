import { InvariantError } from '../../errors/invariantError.js'
import type { NetworkId } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import type { ClaimsQuery } from '../../query/queries.js'
import { type ClaimRecord, claimTemplate, type Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import type { ClaimRow } from '../../store/layout/claimRow.js'
import type { DepositRow } from '../../store/layout/depositRow.js'
import { claimSources, showsDeposit } from '../rows/claimRows.js'
import { type NetworkRows, PackedPage } from '../rows/packedPage.js'
import { recordOf } from '../rows/rowSources.js'
import {
  type ClaimedContent,
  contentOfClaim,
  contentOfDeposit,
  isSameContent,
} from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import { pageOf } from './pageOf.js'
import { pageOfAll } from './pageOfAll.js'
import { selectClaims } from './selectClaims.js'
import type { ShardReaders } from './shardReaders.js'

/** Claims in force on one network, newest first unless the query asks otherwise, or on all, newest first. A page beyond the end is empty, with the same total. */
export function getClaims(
  shards: ShardReaders,
  query: ClaimsQuery,
  template: RowTemplate = claimTemplate,
): Answer<Page<ClaimRecord>> {
  if (query.networkId === undefined) return success(claimsOfAll(shards, query, template))
  const view = shards.get(query.networkId)
  const frame = {
    operation: 'getClaims' as const,
    from: 0,
    below: Number.POSITIVE_INFINITY,
    state: view.state,
    rows: 'claims' as const,
  }
  const page = pageOf(selectClaims(shards, view, query), frame, query)
  if (!page.ok) return page
  const list = claimList(shards, view, template)
  return success(new PackedPage(page.value, template, [{ ordinals: page.value.ordinals, list }]))
}

function claimsOfAll(shards: ShardReaders, query: ClaimsQuery, template: RowTemplate): Page<ClaimRecord> {
  const strands = shards.networkIds.map((networkId) => {
    const view = shards.get(networkId)
    return {
      list: claimList(shards, view, template),
      rows: selectClaims(shards, view, { ...query, networkId }),
      timeOf: (ordinal: number) => view.claims.getTimestampSec(ordinal),
    }
  })
  return pageOfAll(strands, query, template)
}

function claimList(shards: ShardReaders, view: ShardView, template: RowTemplate): NetworkRows<ClaimRecord> {
  return {
    packer: (writer) => shards.rowPackers.of('claims', writer, view, template),
    makeRow: (ordinal) => makeClaimRecord(shards, view, ordinal, showsDeposit(template)),
  }
}

const MESSAGE = 1

/**
 * Makes the record of a claim, with its deposit from the source's shard. @param ordinal must be below the number of claims.
 * @param isWithDeposit whether it has what only the deposit tells.
 */
function makeClaimRecord(
  shards: ShardReaders,
  view: ShardView,
  ordinal: number,
  isWithDeposit: boolean,
): ClaimRecord {
  const row = view.claims.get(ordinal)
  const source = shards.find(row.sourceNetwork)
  const deposit = source?.deposits.find(row.depositCount)
  const content = row.isSetByAdministrator
    ? contentOfKnownDeposit(source, deposit)
    : contentOfClaim(view, row)
  const claimed = findClaimed(view.networkId, source, deposit, row, content)
  const fields = recordOf(claimSources, {
    destinationNetwork: view.networkId,
    row,
    transactionHash: view.claims.getTransactionHash(ordinal),
    bridgeTransactionHash: claimed?.transactionHash ?? null,
    content,
    sender: view.claims.senders.find(ordinal),
  })
  return isWithDeposit && claimed !== undefined
    ? {
        ...fields,
        depositMetadata: source!.dictionary.getMetadata(claimed.metadataId),
        isMessage: claimed.leafType === MESSAGE,
      }
    : fields
}

/** Content of a claim that an administrator set. SetClaim has none, so it comes from the deposit. */
function contentOfKnownDeposit(
  source: ShardView | undefined,
  deposit: DepositRow | undefined,
): ClaimedContent {
  if (source === undefined || deposit === undefined)
    throw new InvariantError('a claim set by an administrator was listed before its deposit is known')
  return contentOfDeposit(source, deposit)
}

/**
 * The deposit that was claimed. After a cut of the local exit tree its deposit count may name another deposit: the
 * claimed one is then the current or archived deposit with the claim's content. undefined when there is none.
 */
function findClaimed(
  claimedOn: NetworkId,
  source: ShardView | undefined,
  deposit: DepositRow | undefined,
  row: ClaimRow,
  shown: ClaimedContent,
): DepositRow | undefined {
  const archived = source?.deposits.archivedAt(row.depositCount) ?? []
  if (source === undefined || archived.length === 0 || row.isSetByAdministrator) return deposit
  const candidates = [...(deposit === undefined ? [] : [deposit]), ...archived.map((each) => each.row)]
  return candidates.find(
    (each) => each.destinationNetwork === claimedOn && isSameContent(contentOfDeposit(source, each), shown),
  )
}
