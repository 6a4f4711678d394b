import type { ChainClient } from '../../chain/chainClient.types.js'
import { applyOrThrow } from '../../shard/applyOrThrow.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { SyncReport } from '../syncReport.js'
import { initialState, react } from './recoveryMachine.js'
import type {
  AuditObservation,
  AuditStep,
  Effect,
  FailureObservation,
  FailureStep,
  JudgementObservation,
  JudgementStep,
  Observation,
  Pause,
  ProgressObservation,
  RecoveryFailed,
  RecoveryState,
  Step,
} from './recoveryMachine.types.js'

export interface RecoveryDriverOptions {
  readonly client: Pick<ChainClient, 'readCarefully'>
  readonly writer: Pick<ShardWriter, 'apply'>
  readonly report: Pick<SyncReport, 'halted' | 'resumed' | 'caughtUp' | 'contractsDisputed'>
}

/** Holds the state of one network's recovery machine, and carries out what it does at once. */
export class RecoveryDriver {
  readonly #options: RecoveryDriverOptions
  #state = initialState

  constructor(options: RecoveryDriverOptions) {
    this.#options = options
  }

  get state(): RecoveryState {
    return this.#state
  }

  /** True while a contradiction is proven or can't be decided. */
  get isDisputed(): boolean {
    return this.#state.contracts.kind === 'disputed'
  }

  /** @returns the step to take next. Its outcome is the next observation. */
  observe(observation: ProgressObservation): undefined
  observe(observation: FailureObservation): FailureStep
  observe(observation: RecoveryFailed): Pause
  observe(observation: JudgementObservation): JudgementStep
  observe(observation: AuditObservation): AuditStep
  observe(observation: Observation): Step | undefined {
    const { state, effects, step } = react(this.#state, observation)
    // Before the effects: a full disk may keep one from being done, and what was observed is true all the same.
    this.#state = state
    for (const effect of effects) this.#carryOut(effect)
    return step
  }

  #carryOut(effect: Effect): void {
    const { client, writer, report } = this.#options
    switch (effect.type) {
      case 'halt':
        report.halted(effect.reason, effect.error)
        break
      case 'resume':
        report.resumed()
        break
      case 'noteCatchingUp':
        applyOrThrow(writer, { type: 'noteCatchingUp', isCatchingUp: effect.isCatchingUp })
        break
      case 'tellCaughtUp':
        report.caughtUp(effect.block)
        break
      case 'tellDispute':
        report.contractsDisputed(effect.what, effect.disputes)
        break
      case 'noteStartOvers':
        applyOrThrow(writer, { type: 'noteStartOvers', startOvers: effect.startOvers })
        break
      case 'readCarefully':
        client.readCarefully(effect.from, effect.to)
        break
    }
  }
}
