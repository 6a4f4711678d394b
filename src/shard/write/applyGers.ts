import type { BlockHeader, Hash } from '../../protocol/chainEvent.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeGerState, encodeGerState, encodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import type { WriteContext } from './writeContext.js'

/** A global exit root was injected. If event and poll both report it, it counts once; after a removal it counts again. */
export function applyGerInjected(context: WriteContext, header: BlockHeader, globalExitRoot: Hash): void {
  const { view, counters } = context
  const stored = view.get('gerStates', globalExitRoot)
  if (stored !== undefined && decodeGerState(stored).isInForce) return
  const injectionOrdinal = counters.gerInjections++
  view.put(
    'injectedGers',
    uint32Key(injectionOrdinal),
    encodeInjectedGerEntry({ globalExitRoot, blockNumber: header.number }),
  )
  view.put('gerStates', globalExitRoot, encodeGerState({ injectionOrdinal, isInForce: true }))
}

/** A global exit root was removed from the manager. */
export function applyGerRemoved(context: WriteContext, globalExitRoot: Hash): void {
  const { view, counters } = context
  const stored = view.get('gerStates', globalExitRoot)
  if (stored === undefined) return
  const { injectionOrdinal, isInForce } = decodeGerState(stored)
  if (!isInForce) return
  view.put('gerStates', globalExitRoot, encodeGerState({ injectionOrdinal, isInForce: false }))
  counters.gerRemovals++
}
