import { type AskedService, NoAnswerError, type Told } from './askedService.js'
import type { FactName, ToldProof } from './chainWitness.js'
import {
  compareJudgedProofs,
  factsBy,
  howProofsAreJudged,
  type JudgedProof,
  judgeDepositFields,
} from './comparedProofs.js'
import { type ComparedList, compareLists, compareRows, plain, type Row, rowsIn } from './comparedRows.js'
import { both, type Comparison, spread, type Verdict, verdictOf } from './comparison.js'

/** Compares two services that speak the API of zkevm-bridge-service, or the proof API, which has its answers. */

const PAGE_SIZE = 100
/** Further back our service walks no rows of all networks. */
const MOST_ROWS = 10_000

const depositFact: Readonly<Record<string, FactName>> = {
  leaf_type: 'leafType',
  orig_net: 'originNetwork',
  orig_addr: 'originAddress',
  amount: 'amount',
  dest_net: 'destinationNetwork',
  dest_addr: 'destinationAddress',
  block_num: 'blockNumber',
  deposit_cnt: 'depositCount',
  tx_hash: 'transactionHash',
  metadata: 'metadata',
  global_index: 'globalIndex',
}

const NOTHING: ReadonlySet<string> = new Set()
/** The original says "0". */
const CLAIM_BLOCK: ReadonlySet<string> = new Set(['block_num'])

/** @param addresses receivers whose lists are compared, beside those of the bridges that are looked at one by one. */
export async function compareZkevm(comparison: Comparison, addresses: readonly string[]): Promise<void> {
  const receivers = new Set(addresses.map((address) => address.toLowerCase()))
  const bridgesShare = (share: number): number => share / 2
  await compareBridges(comparison, 'net_id', 'deposit_cnt', bridgesShare, receivers)
  const chosen = [...receivers].slice(0, Math.max(addresses.length, comparison.sample))
  for (const [at, receiver] of chosen.entries())
    for (const [half, list] of [bridgesTo(comparison, receiver), claimsFor(comparison, receiver)].entries())
      await compareLists(comparison, list, (share) => 0.5 + (at + (half + share) / 2) / chosen.length / 2)
}

export async function compareProofApi(comparison: Comparison): Promise<void> {
  await compareBridges(comparison, 'networkId', 'depositCount', (share) => share, new Set())
}

/** @param network how `/merkle-proof` calls it. @param receivers takes the receivers of the bridges that were looked at. */
async function compareBridges(
  comparison: Comparison,
  network: string,
  count: string,
  shareOf: (share: number) => number,
  receivers: Set<string>,
): Promise<void> {
  const { services, networkIds, sample, progress } = comparison
  for (const [at, networkId] of networkIds.entries()) {
    progress.show(shareOf(at / networkIds.length), `bridges of network ${networkId}: how many`)
    const { ours, theirs } = await both(services, (service) => countBridges(service, networkId))
    const chosen = spread(Math.max(ours, theirs), sample)
    for (const [place, depositCount] of chosen.entries()) {
      const done = (at + place / chosen.length) / networkIds.length
      progress.show(shareOf(done), `bridges of network ${networkId}`)
      const told = await compareBridge(comparison, networkId, depositCount)
      if (told !== undefined) receivers.add(plain(told.dest_addr))
      const proofPath = `/merkle-proof?${network}=${networkId}&${count}=${depositCount}`
      await compareProof(comparison, networkId, depositCount, proofPath)
    }
  }
}

async function findBridge(
  service: AskedService,
  networkId: number,
  depositCount: number,
): Promise<Row | undefined> {
  const { json, status } = await service.ask(`/bridge?net_id=${networkId}&deposit_cnt=${depositCount}`)
  const { deposit } = (typeof json === 'object' && json !== null ? json : {}) as Row
  if (typeof deposit === 'object' && deposit !== null) return deposit as Row
  if (status === 200)
    throw new NoAnswerError(`${service.name} answered without a deposit: is this its address?`)
  return undefined
}

/** How many bridges a service knows of a network: their counts begin with 0 and leave none out. */
async function countBridges(service: AskedService, networkId: number): Promise<number> {
  const has = async (depositCount: number): Promise<boolean> =>
    (await findBridge(service, networkId, depositCount)) !== undefined
  let known = 0
  let absent = 1
  while (await has(absent - 1)) {
    known = absent
    absent *= 2
  }
  while (absent - known > 1) {
    const middle = Math.floor((known + absent) / 2)
    if (await has(middle - 1)) known = middle
    else absent = middle
  }
  return known
}

/** Who is right about fields of a bridge. */
function fieldsJudge({ witness }: Comparison): ComparedList['judgeFields'] {
  return async (rows, fields) => {
    const { ours, theirs } = rows
    const networkId = Number(ours.network_id)
    const depositCount = Number(ours.deposit_cnt)
    const verdicts = await judgeDepositFields(rows, fields, depositFact, async (row) => {
      return (await witness.deposit(networkId, plain(row.tx_hash), depositCount)) ?? undefined
    })
    if (!fields.includes('claim_tx_hash')) return verdicts
    const isClaimed = await witness.isClaimed(Number(ours.dest_net), networkId, depositCount)
    if (isClaimed === undefined) return verdicts
    const isRight = (row: Row): boolean => (plain(row.claim_tx_hash) !== '') === isClaimed
    const because = `claimedBitMap says ${isClaimed ? 'claimed' : 'not claimed'}`
    const verdict = verdictOf({ ours: isRight(ours), theirs: isRight(theirs) }, because)
    // Where both say claimed, the map does not tell by which transaction.
    return verdict.chain === 'both' ? verdicts : new Map([...verdicts, ['claim_tx_hash', verdict]])
  }
}

function missingJudge({ witness }: Comparison): ComparedList['judgeMissing'] {
  return async (row, holder): Promise<Verdict> => {
    const found = await witness.deposit(Number(row.network_id), plain(row.tx_hash), Number(row.deposit_cnt))
    if (found === undefined) return { chain: 'unknown', because: 'no endpoint tells its transaction' }
    const holds = found !== null
    return verdictOf(
      { ours: (holder === 'ours') === holds, theirs: (holder === 'theirs') === holds },
      'the receipt of its transaction',
    )
  }
}

const bridgeTitle = (row: Row): string =>
  `bridge ${plain(row.deposit_cnt)} of network ${plain(row.network_id)}`

/** @returns what one of both tells of it. */
async function compareBridge(
  comparison: Comparison,
  networkId: number,
  depositCount: number,
): Promise<Row | undefined> {
  const rows = await both(comparison.services, (service) => findBridge(service, networkId, depositCount))
  const row = rows.ours ?? rows.theirs
  if (row === undefined) return undefined
  comparison.findings.count('bridges')
  await compareRows(
    comparison,
    {
      titleOf: bridgeTitle,
      passedOver: NOTHING,
      judgeMissing: missingJudge(comparison),
      judgeFields: fieldsJudge(comparison),
    },
    row,
    rows,
  )
  return row
}

async function compareProof(
  { services, witness, findings }: Comparison,
  networkId: number,
  depositCount: number,
  path: string,
): Promise<void> {
  const told = await both(services, async (service): Promise<JudgedProof | undefined> => {
    const proof = proofIn(await service.ask(path))
    if (proof === undefined) return undefined
    const facts = factsBy(depositFact, (await findBridge(service, networkId, depositCount)) ?? {})
    return { proof, holds: await witness.proofHolds({ networkId, depositCount }, facts, proof) }
  })
  const { ours, theirs } = told
  if (ours === undefined && theirs === undefined) return
  findings.count('proofs')
  const isOtherLeaf =
    ours !== undefined &&
    theirs !== undefined &&
    (ours.proof.mainnetExitRoot !== theirs.proof.mainnetExitRoot ||
      ours.proof.rollupExitRoot !== theirs.proof.rollupExitRoot)
  if (isOtherLeaf && ours.holds && theirs.holds)
    findings.notes.add('of some bridges the services choose other roots to prove; both proofs hold')
  else
    compareJudgedProofs(
      findings,
      `bridge ${depositCount} of network ${networkId}`,
      told,
      howProofsAreJudged(witness),
    )
}

function proofIn({ json }: Told): ToldProof | undefined {
  const { proof } = (typeof json === 'object' && json !== null ? json : {}) as { readonly proof?: Row | null }
  if (typeof proof !== 'object' || proof === null) return undefined
  const { merkle_proof: local, rollup_merkle_proof: rollup } = proof
  return {
    local: Array.isArray(local) ? local : [],
    rollup: Array.isArray(rollup) ? rollup : [],
    mainnetExitRoot: plain(proof.main_exit_root),
    rollupExitRoot: plain(proof.rollup_exit_root),
  }
}

/** What lists of a receiver have in common. */
function listOf({ findings }: Comparison, path: string, key: string, receiver: string) {
  return {
    title: `${path} of ${receiver}`,
    pageSize: PAGE_SIZE,
    async page(service: AskedService, number: number) {
      const query = `offset=${number * PAGE_SIZE}&limit=${PAGE_SIZE}`
      const told = await service.ask(`/${path}/${receiver}?${query}`)
      if (told.status !== 200) throw new NoAnswerError(`${service.name} answered ${told.status} to /${path}`)
      const total = Number((told.json as Row).total_cnt)
      if (total > MOST_ROWS)
        findings.notes.add(`of ${path} of ${receiver} the newest ${MOST_ROWS} were compared`)
      return { rows: rowsIn(service, told.json, key), total: Math.min(total, MOST_ROWS) }
    },
  }
}

function bridgesTo(comparison: Comparison, receiver: string): ComparedList {
  return {
    ...listOf(comparison, 'bridges', 'deposits', receiver),
    name: 'rows of lists of bridges',
    key: (row) => `${plain(row.network_id)}:${plain(row.deposit_cnt)}`,
    titleOf: bridgeTitle,
    passedOver: NOTHING,
    again: (service, row) => findBridge(service, Number(row.network_id), Number(row.deposit_cnt)),
    judgeMissing: missingJudge(comparison),
    judgeFields: fieldsJudge(comparison),
  }
}

/** What a claim says of the bridge that it claims. */
function claimed({ mainnet_flag: isOfMainnet, rollup_index: rollupIndex, index }: Row) {
  return { source: isOfMainnet === true ? 0 : Number(rollupIndex) + 1, depositCount: Number(index) }
}

function claimsFor(comparison: Comparison, receiver: string): ComparedList {
  const { witness } = comparison
  const list = listOf(comparison, 'claims', 'claims', receiver)
  const key = (row: Row): string => {
    const { source, depositCount } = claimed(row)
    return `${plain(row.network_id)}:${source}:${depositCount}`
  }
  return {
    ...list,
    name: 'rows of lists of claims',
    key,
    titleOf(row) {
      const { source, depositCount } = claimed(row)
      return `claim of bridge ${depositCount} of network ${source} on network ${plain(row.network_id)}`
    },
    passedOver: CLAIM_BLOCK,
    // No endpoint tells one claim alone: the list is read up to it.
    async again(service, row) {
      for (let number = 0; ; number++) {
        const { rows, total } = await list.page(service, number)
        const found = rows.find((candidate) => key(candidate) === key(row))
        if (found !== undefined || (number + 1) * PAGE_SIZE >= total) return found
      }
    },
    async judgeMissing(row, holder) {
      const { source, depositCount } = claimed(row)
      const isClaimed = await witness.isClaimed(Number(row.network_id), source, depositCount)
      if (isClaimed === undefined) return { chain: 'unknown', because: 'no endpoint tells claimedBitMap' }
      return verdictOf(
        { ours: (holder === 'ours') === isClaimed, theirs: (holder === 'theirs') === isClaimed },
        `claimedBitMap says ${isClaimed ? 'claimed' : 'not claimed'}`,
      )
    },
    judgeFields: async () => new Map(),
  }
}
