import type { HaltReason } from '../board/haltReason.js'
import type { Config } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import type { MemberMessage } from '../member/memberThread.js'
import { withoutSecrets } from '../telemetry/secrets.js'

export interface ProgressOptions {
  readonly config: Config
  readonly announce: (line: string) => void
  /** Ends the process with a fault; only the first one counts. */
  readonly fail: (error: Error) => void
}

/** Turns messages of the indexer threads into lines for people, and ends the process when a thread has died. */
export interface Progress {
  onMessage(message: MemberMessage): void
  /** Resolves when every network has caught up once. */
  readonly caughtUp: Promise<void>
}

export function watchProgress(options: ProgressOptions): Progress {
  const { config, announce, fail } = options
  const notCaughtUp = new Set(config.networks.map(({ networkId }) => networkId))
  let resolveCaughtUp = (): void => undefined
  const caughtUp = new Promise<void>((resolve) => {
    resolveCaughtUp = resolve
  })

  const onCaughtUp = (networkId: number, block: number): void => {
    if (!notCaughtUp.delete(networkId)) return
    announce(`network ${networkId} has caught up at block ${block}`)
    if (notCaughtUp.size === 0) resolveCaughtUp()
  }

  const onHalted = (networkId: number, reason: HaltReason, text: string): void => {
    // At the start the reason is mostly a mistake in the configuration, later an endpoint that has changed. The two look alike, so
    // the process goes on and serves what is stored. This network continues once its endpoint is right.
    if (reason === 'wrong_chain' || reason === 'wrong_contract')
      announce(`network ${networkId} waits: ${withoutSecrets(text)}`)
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
        case 'refused':
          return fail(new FatalError(message.message))
        // The thread has logged these, and its numbers are on the status board already.
        case 'progress':
        case 'resumed':
        case 'reorg':
        case 'stopped':
          return
      }
    },
  }
}
