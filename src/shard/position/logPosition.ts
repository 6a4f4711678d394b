import { type HaltReason, haltReasons } from '../../board/haltReason.js'
import { type HeadPlace, headPlaces } from '../../board/statusBoard.js'
import { decodeHex, encodeHex } from '../../protocol/hex.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeLogPlace, encodeLogPlace } from '../../store/layout/metaValues.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import type { LogPlace, LogSettings } from '../shardLog.types.js'

/** What a shard that follows a log knows of it, and what notes have told of its network. */

/** The place of the newest command that was given to the shard, whether it was applied or refused. @returns a copy. */
export function readLogPlace(view: Pick<ReadView, 'get'>): LogPlace | undefined {
  const stored = view.get('meta', metaKey('logPlace'))
  return stored === undefined ? undefined : decodeLogPlace(stored)
}

/** In the transaction of the command's effects, so that both are stored or none. No answer depends on it. */
export function putLogPlace(view: WriteView, { sequence, commandId }: LogPlace): void {
  view.putUnseen('meta', metaKey('logPlace'), encodeLogPlace(sequence, commandId))
}

/** undefined: the shard follows no log. */
export function readLogSettings(view: Pick<ReadView, 'get'>): LogSettings | undefined {
  const stored = view.get('meta', metaKey('log'))
  if (stored === undefined) return undefined
  const { logId, bridge, globalExitRootManager, rollupManager, ...numbers } = JSON.parse(
    Buffer.from(stored).toString(),
  ) as StoredSettings
  return {
    ...numbers,
    logId: decodeHex(logId)!,
    bridge: decodeHex(bridge)!,
    globalExitRootManager: decodeHex(globalExitRootManager)!,
    rollupManager: rollupManager === undefined ? undefined : decodeHex(rollupManager)!,
  }
}

export function putLogSettings(view: WriteView, settings: LogSettings): void {
  const { logId, bridge, globalExitRootManager, rollupManager, ...numbers } = settings
  const stored: StoredSettings = {
    ...numbers,
    logId: encodeHex(logId),
    bridge: encodeHex(bridge),
    globalExitRootManager: encodeHex(globalExitRootManager),
    ...(rollupManager === undefined ? {} : { rollupManager: encodeHex(rollupManager) }),
  }
  // Sorted: two shards must hold the same bytes, however the command was made.
  view.put('meta', metaKey('log'), Buffer.from(JSON.stringify(stored, Object.keys(stored).sort())))
}

/** Meta `log`, as JSON: bytes are 0x and hex digits. */
type HexNames = 'logId' | 'bridge' | 'globalExitRootManager' | 'rollupManager'
type StoredSettings = Omit<LogSettings, HexNames> & {
  readonly [Name in Exclude<HexNames, 'rollupManager'>]: string
} & { readonly rollupManager?: string }

/** Why the network stands still, as it was noted last. */
export function readHaltReason(view: Pick<ReadView, 'get'>): HaltReason {
  return haltReasons[view.get('meta', metaKey('haltReason'))?.[0] ?? 0]!
}

export function putHaltReason(view: WriteView, reason: HaltReason): void {
  view.put('meta', metaKey('haltReason'), Uint8Array.of(haltReasons.indexOf(reason)))
}

/** Where the chain's head is, as it was noted last; undefined: nothing was noted. */
export function readHeadPlace(view: Pick<ReadView, 'get'>): HeadPlace | undefined {
  const stored = view.get('meta', metaKey('headPlace'))?.[0]
  return Object.values(headPlaces).find((place) => place === stored)
}

export function putHeadPlace(view: WriteView, place: HeadPlace): void {
  view.put('meta', metaKey('headPlace'), Uint8Array.of(place))
}
