import type { ChainWitness, DepositFacts, FactName, ToldProof } from './chainWitness.js'
import { plain, type Row } from './comparedRows.js'
import { type Findings, type Pair, type Verdict, verdictOf } from './comparison.js'

/** What a row tells of a deposit. @param names key → fact. */
export function factsBy(names: Readonly<Record<string, FactName>>, row: Row): DepositFacts {
  return Object.fromEntries(
    Object.entries(names).flatMap(([key, fact]) => (key in row ? [[fact, plain(row[key])]] : [])),
  )
}

/** @param find what the chain tells of the deposit that a row is about; undefined where it does not. */
export async function judgeDepositFields(
  { ours, theirs }: Pair<Row>,
  fields: readonly string[],
  names: Readonly<Record<string, FactName>>,
  find: (row: Row) => Promise<DepositFacts | undefined>,
): Promise<ReadonlyMap<string, Verdict>> {
  const found = (await find(ours)) ?? (await find(theirs))
  if (found === undefined) return new Map()
  return new Map(
    fields.flatMap((field) => {
      const fact = names[field]
      const truth = fact && found[fact]
      if (truth === undefined) return []
      const isRight = { ours: plain(ours[field]) === truth, theirs: plain(theirs[field]) === truth }
      return [[field, verdictOf(isRight, 'the receipt of its transaction')] as const]
    }),
  )
}

/** How proofs are judged. */
export function howProofsAreJudged({ asksChain }: ChainWitness): string {
  return asksChain
    ? 'proofs folded from the leaf to their root, which was looked up on the L1'
    : 'proofs folded from the leaf to the root beside them; without --config no root was looked up on the L1'
}

/** A proof and whether it holds. */
export interface JudgedProof {
  readonly proof: ToldProof
  readonly holds: boolean | undefined
}

/** Adds the parts of two proofs under the same leaf that differ. Undefined: the service tells none. */
export function compareJudgedProofs(
  findings: Findings,
  what: string,
  { ours, theirs }: Pair<JudgedProof | undefined>,
  because: string,
): void {
  const verdict = verdictOf(
    {
      ours: ours === undefined ? false : ours.holds,
      theirs: theirs === undefined ? false : theirs.holds,
    },
    because,
  )
  if (ours === undefined || theirs === undefined) {
    if (ours !== undefined || theirs !== undefined)
      findings.add({
        what,
        field: 'proof',
        ours: ours === undefined ? null : 'is there',
        theirs: theirs === undefined ? null : 'is there',
        ...verdict,
      })
    return
  }
  const add = (field: string, one: string, other: string): void => {
    if (one.toLowerCase() !== other.toLowerCase())
      findings.add({ what, field, ours: one, theirs: other, ...verdict })
  }
  for (const [field, key] of [
    ['proof of the local exit root', 'local'],
    ['proof of the rollup exit root', 'rollup'],
  ] as const)
    add(
      field,
      differingSiblings(ours.proof[key], theirs.proof[key]),
      differingSiblings(theirs.proof[key], ours.proof[key]),
    )
  add('mainnet exit root', ours.proof.mainnetExitRoot, theirs.proof.mainnetExitRoot)
  add('rollup exit root', ours.proof.rollupExitRoot, theirs.proof.rollupExitRoot)
}

/** The siblings that the other proof does not have at their place: `3: 0x…`; '' where all are the same. */
function differingSiblings(siblings: readonly string[], others: readonly string[]): string {
  return siblings
    .flatMap((sibling, at) =>
      String(sibling).toLowerCase() === String(others[at] ?? '').toLowerCase() ? [] : [`${at}: ${sibling}`],
    )
    .join(', ')
}
