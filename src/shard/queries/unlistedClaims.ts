import { equalBytes } from '../../protocol/abiBytes.js'
import type { NetworkId } from '../../protocol/units.js'
import { listKinds } from '../../store/layout/tables.js'
import type { ShardView } from '../snapshot/shardView.js'

const NO_KEY = new Uint8Array(0)

interface SetByAdministrator {
  readonly ordinal: number
  readonly sourceNetwork: NetworkId
  readonly depositCount: number
  /** Destination address of the deposit, and the source's number of rewinds when it was read. */
  deposit: { readonly address: Uint8Array; readonly epoch: number } | undefined
}

interface Kept {
  epoch: number
  /** Commits of the shard at the last update. */
  commits: number
  outOfForceCount: number
  outOfForce: readonly number[]
  /** Newest of them by deposit, once somebody has asked for it; of the first `outOfForceCount` when it was made. */
  newestOutOfForce: { readonly count: number; readonly byDeposit: ReadonlyMap<string, number> } | undefined
  setByAdministrator: SetByAdministrator[]
}

/**
 * Claims that pages and totals leave out: those no longer in force, and those that an administrator set for a deposit that is not
 * stored yet. Both are few, so they are taken out of the lists at read time (`without`).
 */
export class UnlistedClaims {
  readonly #shards: { find(networkId: NetworkId): ShardView | undefined }
  readonly #kept = new Map<NetworkId, Kept>()

  constructor(shards: { find(networkId: NetworkId): ShardView | undefined }) {
    this.#shards = shards
  }

  /** Ordinals of the unlisted claims, ascending. */
  of(view: ShardView): readonly number[] {
    const { outOfForce, setByAdministrator } = this.#keptOf(view)
    if (setByAdministrator.length === 0) return outOfForce
    const pending = setByAdministrator
      .filter((claim) => this.#sourceOf(claim) === undefined)
      .map(({ ordinal }) => ordinal)
    return pending.length === 0
      ? outOfForce
      : [...new Set([...outOfForce, ...pending])].sort((left, right) => left - right)
  }

  /** The newest claim of a deposit that is no longer in force: it was unset, or superseded by the one that is in force. */
  findOutOfForce(view: ShardView, sourceNetwork: NetworkId, depositCount: number): number | undefined {
    const kept = this.#keptOf(view)
    if (kept.outOfForce.length === 0) return undefined
    if (kept.newestOutOfForce?.count !== kept.outOfForceCount) {
      const byDeposit = new Map<string, number>()
      for (const ordinal of kept.outOfForce) {
        const claim = view.claims.get(ordinal)
        byDeposit.set(depositKey(claim.sourceNetwork, claim.depositCount), ordinal)
      }
      kept.newestOutOfForce = { count: kept.outOfForceCount, byDeposit }
    }
    return kept.newestOutOfForce.byDeposit.get(depositKey(sourceNetwork, depositCount))
  }

  /** Claims that an administrator set for deposits to the address, ascending. The stored lists by address do not have them. */
  setClaimsTo(view: ShardView, address: Uint8Array): number[] {
    return this.#keptOf(view)
      .setByAdministrator.filter((claim) => {
        const source = this.#sourceOf(claim)
        if (source === undefined) return false
        const { epoch } = source.state
        if (claim.deposit?.epoch !== epoch) {
          const { destinationAddress } = source.deposits.get(claim.depositCount)
          claim.deposit = { address: destinationAddress.bytes.slice(), epoch }
        }
        return equalBytes(claim.deposit.address, address)
      })
      .map(({ ordinal }) => ordinal)
  }

  /** The source's shard; undefined while it does not have the deposit. */
  #sourceOf({ sourceNetwork, depositCount }: SetByAdministrator): ShardView | undefined {
    const source = this.#shards.find(sourceNetwork)
    return source !== undefined && depositCount < source.deposits.count ? source : undefined
  }

  #keptOf(view: ShardView): Kept {
    let kept = this.#kept.get(view.networkId)
    if (kept?.commits === view.commits) return kept
    const { epoch, counters } = view.state
    if (kept === undefined || kept.epoch !== epoch) {
      kept = {
        epoch,
        commits: -1,
        outOfForceCount: 0,
        outOfForce: [],
        newestOutOfForce: undefined,
        setByAdministrator: [],
      }
      this.#kept.set(view.networkId, kept)
    }
    // Within an epoch both lists only grow.
    if (kept.outOfForceCount !== counters.claimsOutOfForce) {
      kept.outOfForce = view.claims.listOutOfForce()
      kept.outOfForceCount = counters.claimsOutOfForce
    }
    const ordinals = view.list(listKinds.claimsSetByAdministrator, NO_KEY)
    for (let at = kept.setByAdministrator.length; at < ordinals.length; at++) {
      const ordinal = ordinals.at(at)
      const { sourceNetwork, depositCount } = view.claims.get(ordinal)
      kept.setByAdministrator.push({ ordinal, sourceNetwork, depositCount, deposit: undefined })
    }
    kept.commits = view.commits
    return kept
  }
}

function depositKey(sourceNetwork: number, depositCount: number): string {
  return `${sourceNetwork} ${depositCount}`
}
