import { encodeHex } from '../../protocol/hex.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeGerState, decodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import { DamageError, entriesOf, expectEqual, expectHash, expectStored, type VerifyContext } from './check.js'
import { expectNumbered } from './checkDictionaries.js'

/**
 * Checks that the state of each injected root names its newest injection, and that the counter of removals is right: a root was
 * removed before each injection but its first, and once more if it is not in force now.
 */
export function checkInjections(context: VerifyContext): string {
  const { view, counters, checkpoint } = context
  expectNumbered(context, 'injectedGers', 'injection', counters.gerInjections)
  let ordinal = 0
  for (const { value } of entriesOf(view, 'injectedGers')) {
    const { globalExitRoot, blockNumber } = decodeInjectedGerEntry(value)
    if (blockNumber > (checkpoint?.number ?? -1))
      throw new DamageError(`injection ${ordinal} is of block ${blockNumber}, after the checkpoint`)
    const place = `state of global exit root ${encodeHex(globalExitRoot)}`
    const state = decodeGerState(expectStored(place, view.get('gerStates', globalExitRoot)))
    if (state.injectionOrdinal < ordinal)
      throw new DamageError(
        `${place} names injection ${state.injectionOrdinal}, but injection ${ordinal} is newer`,
      )
    ordinal++
  }
  let states = 0
  let gone = 0
  for (const { key, value } of entriesOf(view, 'gerStates')) {
    const { injectionOrdinal, isInForce } = decodeGerState(value)
    const place = `injection ${injectionOrdinal}`
    const entry = expectStored(place, view.get('injectedGers', uint32Key(injectionOrdinal)))
    expectHash(place, key, decodeInjectedGerEntry(entry).globalExitRoot)
    states++
    if (!isInForce) gone++
  }
  expectEqual('removals of global exit roots', counters.gerInjections - states + gone, counters.gerRemovals)
  return `${counters.gerInjections} injections, ${counters.gerRemovals} removals`
}
