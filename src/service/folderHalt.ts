import type { HaltReason } from '../board/haltReason.js'
import { type StatusBoardHandle, statusRow } from '../board/statusBoard.js'
import type { StoreGuard } from '../store/openStores.js'
import type { Logger } from '../telemetry/logger.js'

/** The halt reason of a network whose files are gone. */
export const LOST = 'data_folder_lost'

/**
 * Halts networks whose data folder or store was removed or replaced while open: what they commit is lost, and another process may
 * use the folder of that name. The halt ends when the same files are back.
 * @returns a function that checks once; it does nothing while an earlier check is still running.
 */
export function watchFolder(
  guard: Pick<StoreGuard, 'lostNetworks'>,
  status: StatusBoardHandle,
  logger: Logger,
): () => Promise<void> {
  /** Halt reason that each network had before this halt. It is restored afterwards, since only the indexer thread may end it. */
  const before = new Map<number, HaltReason>()
  const judge = (networkId: number, isLost: boolean): void => {
    const row = statusRow(status, networkId)
    const reason = row.haltReason()
    if (isLost && reason !== LOST) {
      before.set(networkId, reason)
      row.setHaltReason(LOST)
      logger.error('the data folder or files in it were removed or replaced while in use', { networkId })
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
