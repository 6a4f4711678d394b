import type { ChainClient } from '../../chain/chainClient.types.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { SyncReport } from '../syncReport.js'
import { react, stateAfterStart } from './recoveryMachine.js'
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
  readonly proposer: Proposer
  readonly report: Pick<SyncReport, 'halt' | 'halted' | 'resumed' | 'caughtUp' | 'contractsDisputed'>
}

/** Holds the state of one network's recovery machine, and carries out what it does at once. */
export class RecoveryDriver {
  readonly #options: RecoveryDriverOptions
  #state: RecoveryState

  constructor(options: RecoveryDriverOptions) {
    this.#options = options
    this.#state = stateAfterStart(options.report.halt)
  }

  get state(): RecoveryState {
    return this.#state
  }

  /** True while a contradiction is proven or can't be decided. */
  get isDisputed(): boolean {
    return this.#state.contracts.kind === 'disputed'
  }

  /** @returns the step to take next. Its outcome is the next observation. */
  observe(observation: ProgressObservation): Promise<undefined>
  observe(observation: FailureObservation): Promise<FailureStep>
  observe(observation: RecoveryFailed): Promise<Pause>
  observe(observation: JudgementObservation): Promise<JudgementStep>
  observe(observation: AuditObservation): Promise<AuditStep>
  async observe(observation: Observation): Promise<Step | undefined> {
    const { state, effects, step } = react(this.#state, observation)
    // Before the effects: a full disk may keep one from being done, and what was observed is true all the same.
    this.#state = state
    for (const effect of effects) await this.#carryOut(effect)
    return step
  }

  async #carryOut(effect: Effect): Promise<void> {
    const { client, proposer, report } = this.#options
    switch (effect.type) {
      case 'halt':
        report.halted(effect.reason, effect.error)
        break
      case 'resume':
        report.resumed()
        break
      case 'noteCatchingUp':
        await proposeOrThrow(proposer, { type: 'noteCatchingUp', isCatchingUp: effect.isCatchingUp })
        break
      case 'tellCaughtUp':
        report.caughtUp(effect.block)
        break
      case 'tellDispute':
        report.contractsDisputed(effect.what, effect.disputes)
        break
      case 'noteStartOvers':
        await proposeOrThrow(proposer, { type: 'noteStartOvers', startOvers: effect.startOvers })
        break
      case 'readCarefully':
        client.readCarefully(effect.from, effect.to)
        break
    }
  }
}
