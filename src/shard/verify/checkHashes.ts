import { getLeaf } from '../../merkle/treeProofs.js'
import { encodeHex } from '../../protocol/hex.js'
import { type HashKind, hashKinds } from '../../store/layout/tables.js'
import { entriesOfKind, findByPrefix, type PrefixKind } from '../snapshot/hashRuns.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { readClaimHash, readDeposit } from '../snapshot/transactionLogs.js'
import { DamageError, expectEqual, type VerifyContext } from './check.js'

/** Checks that each deposit and claim is found by its hashes, and that there are no more entries than rows. */
export function checkHashes({ view, counters, hasher }: VerifyContext): string {
  const check = (
    kind: PrefixKind,
    rowName: string,
    by: string,
    count: number,
    hashOf: (ordinal: number) => Uint8Array,
  ): void => {
    for (let ordinal = 0; ordinal < count; ordinal++) {
      const hash = new Uint8Array(hashOf(ordinal))
      if (!findByPrefix(view, kind, hash).includes(ordinal))
        throw new DamageError(`${rowName} ${ordinal} is not found by its ${by} ${encodeHex(hash)}`)
    }
    expectEqual(`${rowName}s by ${by}`, count, countOfKind(view, kind))
  }
  const { depositsByTransaction, claimsByTransaction, depositsByLeafHash } = hashKinds
  const { deposits, lineage } = counters
  const transactionOf = (ordinal: number) => readDeposit(view, ordinal).transactionHash
  check(depositsByTransaction, 'deposit', 'transaction', deposits, transactionOf)
  check(claimsByTransaction, 'claim', 'transaction', counters.claims, (ordinal) =>
    readClaimHash(view, ordinal),
  )
  const tree = localExitTreeSource(view, hasher, lineage)
  check(depositsByLeafHash, 'deposit', 'leaf', deposits, (ordinal) => getLeaf(tree, lineage, ordinal))
  return `${counters.deposits + counters.claims} rows`
}

function countOfKind(view: VerifyContext['view'], kind: HashKind): number {
  let count = 0
  for (const _ of entriesOfKind(view, kind)) count++
  return count
}
