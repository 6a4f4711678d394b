import { RollupExitTree } from '../../merkle/rollupExitTree.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { encodeHex } from '../../protocol/hex.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeExitState } from '../../store/layout/metaValues.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import { UNRESOLVABLE_VERSION } from '../../store/layout/tables.js'
import { DamageError, entriesOf, expectEqual, expectHash, expectStored, type VerifyContext } from './check.js'
import { rollupRootsOfLeaves } from './checkL1Info.js'

interface NetworkSettlement {
  readonly networkId: number
  readonly version: number
  readonly localExitRoot: Uint8Array
}

/**
 * Replays all settlements, and so computes the rollup exit root of each version. Checks that look-ups, L1 info leaves and the
 * newest state have these roots.
 */
export function checkRollupExits(context: VerifyContext): string {
  const { view, counters } = context
  const newest = counters.rollupExitVersion
  const roots = rootsByVersion(context)
  const expectVersion = (place: string, version: number, root: Uint8Array): void => {
    if (version === UNRESOLVABLE_VERSION) {
      const known = expectStored(`${place}, version`, view.get('rollupExitVersions', root))
      expectEqual(`${place}, version`, UNRESOLVABLE_VERSION, decodeUint32(known))
      return
    }
    if (version > newest)
      throw new DamageError(`${place} is of version ${version}, but the newest is ${newest}`)
    expectHash(`${place}, version ${version}`, roots.subarray(32 * version, 32 * version + 32), root)
  }
  let count = 0
  for (const { key, value } of entriesOf(view, 'rollupExitVersions')) {
    expectVersion(`rollup exit root ${encodeHex(key)}`, decodeUint32(value), key)
    count++
  }
  for (const { index, rollupExitRoot, version } of rollupRootsOfLeaves(context))
    expectVersion(`rollup exit root of L1 info leaf ${index}`, version, rollupExitRoot)
  const state = decodeExitState(view.get('meta', metaKey('exitState')))
  expectVersion('newest rollup exit root', state.rollupExitVersion, state.rollupExitRoot)
  return `${newest} settlements, ${count} roots`
}

/** Computes the rollup exit root of every version, from version 0 (no rollup) on. @returns 32 bytes per version. */
function rootsByVersion({ view, hasher, counters }: VerifyContext): Uint8Array {
  const newest = counters.rollupExitVersion
  const settlements: NetworkSettlement[] = []
  for (const { key, value } of entriesOf(view, 'settledLocalExitRoots')) {
    const networkId = readUint32BigEndian(key, 0)
    const version = readUint32BigEndian(key, 4)
    // The exit root that a rollup has when it is added counts from the next settlement on, so it may be one version ahead.
    if (version < 1 || version > newest + 1 || networkId === 0)
      throw new DamageError(
        `settlement of network ${networkId} is of version ${version}, but the newest is ${newest}`,
      )
    settlements.push({ networkId, version, localExitRoot: value })
  }
  settlements.sort((a, b) => a.version - b.version)
  const tree = new RollupExitTree(hasher)
  const exits = new Map<number, Uint8Array>()
  const roots = new Uint8Array(32 * (newest + 1))
  let next = 0
  for (let version = 1; version <= newest; version++) {
    const before = next
    for (; settlements[next]?.version === version; next++)
      exits.set(settlements[next]!.networkId, settlements[next]!.localExitRoot)
    if (next === before) throw new DamageError(`settlement of version ${version} is missing`)
    const sorted = [...exits].sort(([a], [b]) => a - b)
    roots.set(
      tree.root(sorted.map(([networkId, localExitRoot]) => ({ rollupIndex: networkId - 1, localExitRoot }))),
      32 * version,
    )
  }
  return roots
}
