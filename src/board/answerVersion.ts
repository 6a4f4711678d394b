import { isInDoubt } from './haltReason.js'
import { changeReader, type StatusBoardHandle, statusRow } from './statusBoard.js'

/**
 * The version of an answer: the state of all shards that it was made from. An answer joins networks (readiness, claim links), so any
 * commit of any shard may change it. Compare the numbers for equality only.
 */
export interface AnswerVersion {
  /** Sum of the networks' `tip` fields on the status board. It moves with each commit. */
  readonly tip: number
  /** Sum of the networks' `epoch` fields on the status board. It moves with each reorg and each BackwardLET. */
  readonly epoch: number
  /**
   * One bit per network, set while a halt makes its data doubtful (`isInDoubt`): that changes answers without a commit. The
   * configuration limits the number of networks so that all bits fit.
   */
  readonly halted: number
}

/** Version of an answer that must not be kept: it equals no other version. */
export const NO_VERSION: AnswerVersion = { tip: -1, epoch: -1, halted: -1 }

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
    let tip = 0
    let epoch = 0
    let halted = 0
    let bit = 1
    for (const row of rows) {
      tip += row.get('tip')
      epoch += row.get('epoch')
      if (isInDoubt(row.haltReason())) halted += bit
      bit *= 2
    }
    return { tip, epoch, halted, isChanging }
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

export function isSameVersion(left: AnswerVersion, right: AnswerVersion): boolean {
  return left === right || (left.tip === right.tip && isSameEpoch(left, right))
}

export function isSameEpoch(left: AnswerVersion, right: AnswerVersion): boolean {
  return left.epoch === right.epoch && left.halted === right.halted
}
