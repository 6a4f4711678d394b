import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { Logger } from '../../telemetry/logger.js'
import type { Judgement, StateCheck } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { findBlock } from '../endpoints/readBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { StateTask } from './contractReadsBy.js'
import { tellsBlocksApart } from './tellsBlocksApart.js'

/** What judging a contradiction needs of its network. */
export interface JudgeContext {
  readonly bridge: string
  readonly logger: Logger
  /** The endpoint whose answer differs from what is stored; undefined when it is not known. */
  readonly doubted: Endpoint | undefined
  /** Asks one endpoint after the other. @returns the first value; undefined when none has one. */
  readonly inTurn: <T>(accepts: (endpoint: Endpoint) => boolean, task: StateTask<T>) => Promise<T | undefined>
}

/** @see ChainClient.checkContradiction @throws what the endpoints throw. */
export async function judge<T>(
  context: JudgeContext,
  check: StateCheck,
  stored: T,
  ask: StateTask<T>,
  signal: AbortSignal,
): Promise<Judgement<T>> {
  const { doubted, inTurn } = context
  const question: StateTask<Judgement<T>> = async (endpoint, signal) => {
    const answer = await ask(endpoint, signal)
    if (answer === undefined) return undefined
    const isApart = await tellsBlocksApart(context.bridge, check, endpoint, signal)
    if (isApart === false) {
      misled(context, endpoint, check)
      return endpoint === doubted ? { type: 'refuted' } : undefined
    }
    // An endpoint that agrees with what is stored need not prove anything.
    if (answer === stored) return { type: 'refuted' }
    if ((await showsBlock(check.block, endpoint, signal)) === false)
      return endpoint === doubted ? { type: 'otherBlock' } : undefined
    return isApart ? { type: 'proven', answer } : undefined
  }
  const judgement = await inTurn((endpoint) => endpoint !== doubted, question)
  if (judgement?.type === 'refuted' && doubted !== undefined) await setAside(context, doubted, check, signal)
  return judgement ?? (await inTurn((endpoint) => endpoint === doubted, question)) ?? { type: 'open' }
}

function misled({ logger }: JudgeContext, { alias, state }: Endpoint, { block }: StateCheck): void {
  state.misled()
  logger.warn('endpoint answers with the state of another block: it is not asked for state for a while', {
    endpoint: alias,
    block: block.number,
  })
}

/** Stops asking the doubted endpoint for state: another endpoint agrees with what is stored. */
async function setAside(
  context: JudgeContext,
  doubted: Endpoint,
  check: StateCheck,
  signal: AbortSignal,
): Promise<void> {
  const isApart = await orUndefined(tellsBlocksApart(context.bridge, check, doubted, signal))
  // Not `contradicted`: for reads that take the newest state (`takesNewest`) it may still be better than none.
  if (isApart === false) return misled(context, doubted, check)
  const fields = { endpoint: doubted.alias, block: check.block.number }
  // It is on another branch, or a block behind: both endpoints may be honest.
  if ((await showsBlock(check.block, doubted, signal)) === false) {
    doubted.state.strayed()
    context.logger.info('endpoint has another block: it is not asked for state for a moment', fields)
    return
  }
  doubted.state.contradicted()
  context.logger.warn(
    'endpoint differs from the store and from another endpoint: it is not asked for state for a while',
    fields,
  )
}

/** @returns false when the endpoint has another block at that height, or none; undefined when it does not answer. */
async function showsBlock(
  { number, hash }: BlockHeader,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  return orUndefined(findBlock(number, endpoint, signal).then((block) => block?.hash === encodeHex(hash)))
}

/** @returns undefined when the endpoint fails. */
async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RpcFailure) return undefined
    throw error
  }
}
