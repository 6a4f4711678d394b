import type { HaltReason } from '../../board/haltReason.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { FatalError } from '../../errors/chainErrors.js'
import { InvariantError } from '../../errors/invariantError.js'

/** System errors of a path that no longer exists. Only the store uses paths in this thread, so the data folder is lost. */
const LOST: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ESTALE'])

/** The reason under which a network halts after a failure. */
export function haltReasonOf(error: unknown): HaltReason {
  if (error instanceof ChainDataError) return error.reason
  if (error instanceof FatalError) return error.reason ?? 'internal_error'
  if (isDiskFull(error)) return 'disk_full'
  if (error instanceof Error && 'code' in error && LOST.has(error.code)) return 'data_folder_lost'
  if (error instanceof InvariantError) return 'corrupt_store'
  return 'internal_error'
}

/** LMDB's errors on commit have only the system's text. Its own "map full" means the same to an operator. */
function isDiskFull(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')) return true
    if (/no space left|disk quota exceeded|MDB_MAP_FULL|ENOSPC/i.test(cause.message)) return true
  }
  return false
}
