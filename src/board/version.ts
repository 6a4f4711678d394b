import { isInDoubt } from './haltReason.js'
import { changeReader, type StatusBoardHandle, statusRow } from './statusBoard.js'

/**
 * How far stored data had come when something was made from them. Compare the numbers for equality only: at equal `commits` nothing
 * has changed, in one `epoch` rows were only added. docs/version.md tells what moves them and in which order they are published.
 */
export interface ShardVersion {
  /** Moves with each commit that changed the shard. */
  readonly commits: number
  /** Moves with each rewind: rows were taken back, by a reorg or by BackwardLET. Never falls. */
  readonly epoch: number
}

/**
 * The version of an answer: of all shards together, since an answer joins networks (readiness, claim links), so that any commit of
 * any shard may change it. `commits` and `epoch` are the sums of these fields on the status board, where `commits` also moves with
 * the place of a head.
 */
export interface AnswerVersion extends ShardVersion {
  /**
   * One bit per network, set while a halt makes its data doubtful (`isInDoubt`): that changes answers without a commit. The
   * configuration limits the number of networks so that all bits fit.
   */
  readonly halted: number
}

/** Version of an answer that must not be kept: it equals no other version. */
export const NO_VERSION: AnswerVersion = { commits: -1, epoch: -1, halted: -1 }

export interface VersionNow extends AnswerVersion {
  /**
   * A commit or a halt of some shard is under way: readers may see it already or not yet, and the numbers do not tell which. No
   * kept answer may be served.
   */
  readonly isChanging: boolean
}

/**
 * @returns a function that reads the current version. Call it before the first read of a task, and before a kept answer is used.
 * It reads the board's fields only when the board's count of changes has moved, and returns the same object until then: reading
 * twelve 64-bit cells took a twentieth of a kept answer's time.
 */
export function createVersionReader(status: StatusBoardHandle): () => VersionNow {
  const rows = status.networkIds.map((networkId) => statusRow(status, networkId))
  const readChanges = changeReader(status)
  const readAll = (): VersionNow => {
    // Read these first: when no commit and no halt is under way, the numbers read after them include all that have ended.
    const isChanging = rows.some((row) => row.get('committing') !== 0 || row.get('halting') !== 0)
    let commits = 0
    let epoch = 0
    let halted = 0
    let bit = 1
    for (const row of rows) {
      commits += row.get('commits')
      epoch += row.get('epoch')
      if (isInDoubt(row.haltReason())) halted += bit
      bit *= 2
    }
    return { commits, epoch, halted, isChanging }
  }
  let changes = readChanges()
  let version = readAll()
  return () => {
    const now = readChanges()
    if (now !== changes) {
      changes = now
      version = readAll()
    }
    return version
  }
}

/** Whether no shard has changed in between. */
export function isSameVersion(left: AnswerVersion, right: AnswerVersion): boolean {
  return left === right || (left.commits === right.commits && hasOnlyGrown(left, right))
}

/** Whether rows were only added in between: none was taken back, and no halt began or ended. */
export function hasOnlyGrown(left: AnswerVersion, right: AnswerVersion): boolean {
  return left.epoch === right.epoch && left.halted === right.halted
}
