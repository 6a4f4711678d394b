import type { NetworkId } from '../protocol/units.js'
import type { KeyBoard } from './keyBoard.js'
import type { LogStream } from './logStream.js'
import type { ObjectStore } from './objectStore.js'

/** How the servers know an instance, and it them: contents of files. All but `user` is secret, and never logged. */
export interface ServerAccess {
  readonly credentials?:
    | { readonly type: 'password'; readonly user: string; readonly password: string }
    /** Seed of a user's key, `SU…`. */
    | { readonly type: 'nkey'; readonly seed: string }
    /** A file of `nsc`, with the user's token and seed. */
    | { readonly type: 'creds'; readonly text: string }
  /** Present: TLS or no connection. PEM; without `ca` the authorities that Node knows. Absent: TLS where a server offers it. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
}

/** What the servers of a cluster offer to one instance. What is opened here ends with it. */
export interface ClusterServers {
  /**
   * The log of one network, made if there is none. Waits for servers that do not answer.
   * @throws OperatorError, one line, if it is there with other settings than are wanted, or can't be made with them.
   * @throws the signal's reason when it is aborted.
   */
  openLogStream(networkId: NetworkId, signal: AbortSignal): Promise<LogStream>

  /** The same. The key of a network is its id. */
  openKeyBoard(name: 'leases' | 'heads', signal: AbortSignal): Promise<KeyBoard>

  /** The same, for pieces of snapshots. */
  openObjectStore(signal: AbortSignal): Promise<ObjectStore>

  /** Ends every call that is under way. Takes two seconds at most, and never fails. Afterwards nothing is left that keeps the process alive. */
  close(): Promise<void>
}
