import type { DepositCount, NetworkId } from '../../protocol/units.js'
import type { FeedEventType } from './feedRecords.js'

/** Which events a stream has. Events about a network as a whole pass every filter but that of networks and that of types. */
export interface EventsQuery {
  /** Networks whose feeds are read; absent: all that are served. */
  readonly networkIds?: readonly NetworkId[]
  readonly types?: readonly FeedEventType[]
  readonly destinationNetworks?: readonly NetworkId[]
  /** Sender, receiver, claimer or token: 0x and 40 small hexadecimal digits, as they stand in events. */
  readonly addresses?: readonly string[]
  readonly bridge?: { readonly networkId: NetworkId; readonly depositCount: DepositCount }
  /** Where to go on, as text. */
  readonly after?: string
}
