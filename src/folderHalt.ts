import type { HaltReason } from './errors/haltReason.js'
import type { StoreGuard } from './store/openStores.js'
import type { Logger } from './telemetry/logger.js'
import { type StatusBoardHandle, statusRow } from './telemetry/statusBoard.js'

const LOST = 'data_folder_lost'

/**
 * Halts networks whose folder or files are gone or others than those that are open: what they serve is kept by nobody, and
 * another process may have the folder of that name. Over when the same files are in their place again.
 * @returns looks once, unless the look before has not ended.
 */
export function watchFolder(
  guard: Pick<StoreGuard, 'lostNetworks'>,
  status: StatusBoardHandle,
  logger: Logger,
): () => Promise<void> {
  /** Why each network that is halted here had halted before; its own thread ends that. */
  const before = new Map<number, HaltReason>()
  const judge = (networkId: number, isLost: boolean): void => {
    const row = statusRow(status, networkId)
    const reason = row.haltReason()
    if (isLost && reason !== LOST) {
      before.set(networkId, reason)
      row.setHaltReason(LOST)
      logger.error('the data folder or files in it are gone or replaced under us', { networkId })
    }
    const earlier = before.get(networkId)
    if (!isLost && earlier !== undefined) {
      before.delete(networkId)
      row.replaceHaltReason(LOST, earlier)
      logger.info('the data folder is back', { networkId })
    }
  }
  let isLooking = false
  return async () => {
    if (isLooking) return
    isLooking = true
    const lost = await guard.lostNetworks()
    isLooking = false
    for (const networkId of status.networkIds) judge(networkId, lost.includes(networkId))
  }
}
