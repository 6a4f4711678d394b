import type { HaltReason } from '../board/haltReason.js'
import type { Config } from '../config/config.types.js'
import { OperatorError } from '../errors/operatorError.js'
import type { IndexerMessage } from '../indexer/indexerMessages.js'

export interface ProgressOptions {
  readonly config: Config
  readonly announce: (line: string) => void
  /** Takes the first fault that should end the process. */
  readonly fail: (error: Error) => void
}

/** What the indexers tell, turned into lines for people and the end of the process where nothing else helps. */
export interface Progress {
  onMessage(message: IndexerMessage): void
  /** Resolves when every network has caught up once. */
  readonly caughtUp: Promise<void>
}

export function watchProgress(options: ProgressOptions): Progress {
  const { config, announce, fail } = options
  const behind = new Set(config.networks.map(({ networkId }) => networkId))
  let resolveCaughtUp = (): void => undefined
  const caughtUp = new Promise<void>((resolve) => {
    resolveCaughtUp = resolve
  })

  const onCaughtUp = (networkId: number, block: number): void => {
    if (!behind.delete(networkId)) return
    announce(`network ${networkId} has caught up at block ${block}`)
    if (behind.size === 0) resolveCaughtUp()
  }

  const onHalted = (networkId: number, reason: HaltReason, text: string): void => {
    // Mostly a mistake in the configuration at the start, an endpoint gone astray later. Both look alike, so the process
    // stays: history is worth serving, the other networks go on, and the network follows as soon as its endpoint is right.
    if (reason === 'wrong_chain' || reason === 'wrong_contract')
      announce(`network ${networkId} waits: ${text}`)
  }

  return {
    caughtUp,
    onMessage: (message) => {
      switch (message.type) {
        case 'caughtUp':
          return onCaughtUp(message.networkId, message.block)
        case 'halted':
          return onHalted(message.networkId, message.reason, message.message)
        case 'died':
          return fail(
            new OperatorError(`the indexer of network ${message.networkId} ended: ${message.message}`),
          )
        // The thread has logged these, and its numbers are on the status board.
        case 'progress':
        case 'resumed':
        case 'reorg':
        case 'stopped':
          return
      }
    },
  }
}
