import type { NetworkId } from '../protocol/units.js'
import type { KeyBoard } from './keyBoard.js'
import type { LogStream } from './logStream.js'

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

  /** Ends every call that is under way. Takes two seconds at most, and never fails. Afterwards nothing is left that keeps the process alive. */
  close(): Promise<void>
}
