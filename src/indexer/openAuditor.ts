import { asNetworkId } from '../protocol/units.js'
import { Auditor } from './audit.js'
import { ClaimAudit } from './claimAudit.js'
import { InjectionAudit } from './injectionAudit.js'
import type { SyncLoopOptions } from './syncLoop.js'
import { TokenMappingAudit } from './tokenMappingAudit.js'

/** What one network's sync loop compares with its contracts. */
export function openAuditor(options: SyncLoopOptions): Auditor {
  const { network, client, writer, clock, report, indexedDeposits, leaves } = options
  const { gerInjection } = network
  const networkId = asNetworkId(network.networkId)
  const { contractState } = writer
  const isTold = (): boolean => gerInjection === 'event' || writer.counts().gerInjections > 0
  const isPolled = (): boolean => gerInjection !== 'event' && writer.polledLeaves() !== undefined
  return new Auditor({
    networkId,
    client,
    writer,
    clock,
    report,
    claims: new ClaimAudit({ networkId, client, contractState, indexedDeposits }),
    mappings: new TokenMappingAudit({ client, contractState }),
    injections:
      leaves === undefined || gerInjection === 'poll'
        ? undefined
        : new InjectionAudit({ client, contractState, leaves, isTold, isPolled }),
  })
}
