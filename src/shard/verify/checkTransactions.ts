import { encodeHex } from '../../protocol/hex.js'
import { type HashKind, hashKinds } from '../../store/layout/tables.js'
import { entriesOfKind, findByTransaction } from '../snapshot/hashRuns.js'
import { readClaimHash, readDeposit } from '../snapshot/transactionLogs.js'
import { DamageError, expectEqual, type VerifyContext } from './check.js'

/** Checks that each deposit and claim is found by its transaction hash, and that there are no more entries than rows. */
export function checkTransactions({ view, counters }: VerifyContext): string {
  const check = (
    kind: typeof hashKinds.depositsByTransaction | typeof hashKinds.claimsByTransaction,
    rowName: string,
    count: number,
    hashOf: (ordinal: number) => Uint8Array,
  ): void => {
    for (let ordinal = 0; ordinal < count; ordinal++) {
      const hash = new Uint8Array(hashOf(ordinal))
      if (!findByTransaction(view, kind, hash).includes(ordinal))
        throw new DamageError(`${rowName} ${ordinal} is not found by its transaction ${encodeHex(hash)}`)
    }
    expectEqual(`${rowName}s by transaction`, count, countOfKind(view, kind))
  }
  const { depositsByTransaction, claimsByTransaction } = hashKinds
  check(
    depositsByTransaction,
    'deposit',
    counters.deposits,
    (ordinal) => readDeposit(view, ordinal).transactionHash,
  )
  check(claimsByTransaction, 'claim', counters.claims, (ordinal) => readClaimHash(view, ordinal))
  return `${counters.deposits + counters.claims} rows`
}

function countOfKind(view: VerifyContext['view'], kind: HashKind): number {
  let count = 0
  for (const _ of entriesOfKind(view, kind)) count++
  return count
}
