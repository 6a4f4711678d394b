import type { ChainClient } from '../../chain/chainClient.types.js'
import type { NetworkConfig } from '../../config/config.types.js'
import { asNetworkId, type NetworkId } from '../../protocol/units.js'
import type { L1InfoGerReader } from '../../shard/readiness/l1ShardReader.js'
import type { ShardReads } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { RecoveryDriver } from '../recovery/recoveryDriver.js'
import type { SyncReport } from '../syncReport.js'
import { Auditor } from './audit.js'
import { ClaimAudit } from './claimAudit.js'
import { InjectionAudit } from './injectionAudit.js'
import { TokenMappingAudit } from './tokenMappingAudit.js'

interface AuditorParts {
  readonly network: NetworkConfig
  readonly client: ChainClient
  readonly writer: ShardReads
  readonly clock: Clock
  readonly report: SyncReport
  readonly driver: RecoveryDriver
  /** Number of indexed deposits, by source network: those that may have been claimed here. */
  readonly indexedDeposits: () => ReadonlyMap<NetworkId, number>
  /** L1 info leaves; absent on the L1. */
  readonly leaves?: Pick<L1InfoGerReader, 'read'>
}

/** Builds the auditor of one network from what its configuration asks for. */
export function openAuditor(options: AuditorParts): Auditor {
  const { network, client, writer, clock, report, driver, indexedDeposits, leaves } = options
  const { gerInjection } = network
  const networkId = asNetworkId(network.networkId)
  const { contractState } = writer
  const hasEvents = (): boolean => gerInjection === 'event' || writer.counts().gerInjections > 0
  const isPolled = (): boolean => gerInjection !== 'event' && writer.polledLeaves() !== undefined
  return new Auditor({
    networkId,
    client,
    writer,
    clock,
    report,
    driver,
    claims: new ClaimAudit({ networkId, client, contractState, indexedDeposits }),
    mappings: new TokenMappingAudit({ client, contractState }),
    injections:
      leaves === undefined || gerInjection === 'poll'
        ? undefined
        : new InjectionAudit({ client, contractState, leaves, hasEvents, isPolled }),
  })
}
