import type { BlockHeader, EventPosition, Hash } from '../../protocol/chainEvent.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeGerState, encodeGerState, encodeInjectedGerEntry } from '../../store/layout/smallRows.js'
import { encodeEventPlace, eventPlaceKey, placeOfEvent } from '../../store/places/eventPlace.js'
import { encodeGerRemovalEntry } from '../../store/places/gerRemovalEntry.js'
import type { WriteContext } from './writeContext.js'

/**
 * A global exit root was injected. If event and poll both report it, it counts once; after a removal it counts again.
 * @param event undefined when the manager was asked.
 */
export function applyGerInjected(
  context: WriteContext,
  header: BlockHeader,
  globalExitRoot: Hash,
  event?: EventPosition,
): void {
  const { view, counters } = context
  const stored = view.get('gerStates', globalExitRoot)
  if (stored !== undefined && decodeGerState(stored).isInForce) return
  const injectionOrdinal = counters.gerInjections++
  view.put(
    'injectedGers',
    uint32Key(injectionOrdinal),
    encodeInjectedGerEntry({ globalExitRoot, blockNumber: header.number }),
  )
  if (event !== undefined)
    view.put(
      'eventPlaces',
      eventPlaceKey('injection', injectionOrdinal),
      encodeEventPlace(placeOfEvent(header, event)),
    )
  view.put('gerStates', globalExitRoot, encodeGerState({ injectionOrdinal, isInForce: true }))
}

/** A global exit root was removed from the manager. */
export function applyGerRemoved(
  context: WriteContext,
  header: BlockHeader,
  event: EventPosition & { readonly globalExitRoot: Hash },
): void {
  const { view, counters } = context
  const { globalExitRoot } = event
  const stored = view.get('gerStates', globalExitRoot)
  if (stored === undefined) return
  const { injectionOrdinal, isInForce } = decodeGerState(stored)
  if (!isInForce) return
  view.put('gerStates', globalExitRoot, encodeGerState({ injectionOrdinal, isInForce: false }))
  const place = placeOfEvent(header, event)
  view.put(
    'gerRemovals',
    uint32Key(counters.gerRemovals++),
    encodeGerRemovalEntry({ globalExitRoot, injectionOrdinal, place }),
  )
}
