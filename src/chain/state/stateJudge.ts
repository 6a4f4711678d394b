import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { Logger } from '../../telemetry/logger.js'
import type { Judgement, StateWitness } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { findBlock } from '../endpoints/readBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import type { StateTask } from './contractReadsBy.js'
import { tellsBlocksApart } from './tellsBlocksApart.js'

/** Who is asked when an endpoint tells otherwise than what is stored. */
export interface Court {
  readonly bridge: string
  readonly logger: Logger
  /** The endpoint that told it; undefined where nobody did. */
  readonly accuser: Endpoint | undefined
  /** Asks one endpoint after the other. @returns the first value; undefined where none has one. */
  readonly inTurn: <T>(accepts: (endpoint: Endpoint) => boolean, task: StateTask<T>) => Promise<T | undefined>
}

/** @see ChainClient.askWitness. @throws what the endpoints throw. */
export async function judge<T>(
  court: Court,
  witness: StateWitness,
  stored: T,
  ask: StateTask<T>,
  signal: AbortSignal,
): Promise<Judgement<T>> {
  const { accuser, inTurn } = court
  const question: StateTask<Judgement<T>> = async (endpoint, signal) => {
    const told = await ask(endpoint, signal)
    if (told === undefined) return undefined
    const isApart = await tellsBlocksApart(court.bridge, witness, endpoint, signal)
    if (isApart === false) {
      misled(court, endpoint, witness)
      return endpoint === accuser ? { type: 'withdrawn' } : undefined
    }
    // Two that agree need no proof.
    if (told === stored) return { type: 'withdrawn' }
    if ((await showsBlock(witness.block, endpoint, signal)) === false)
      return endpoint === accuser ? { type: 'moved' } : undefined
    return isApart ? { type: 'denied', told } : undefined
  }
  const word = await inTurn((endpoint) => endpoint !== accuser, question)
  if (word?.type === 'withdrawn' && accuser !== undefined) await dismiss(court, accuser, witness, signal)
  return word ?? (await inTurn((endpoint) => endpoint === accuser, question)) ?? { type: 'open' }
}

function misled({ logger }: Court, { alias, state }: Endpoint, { block }: StateWitness): void {
  state.misled()
  logger.warn('endpoint tells the state of another block: not asked for it', {
    endpoint: alias,
    block: block.number,
  })
}

/** The accuser's word stands against another endpoint's, and against the logs. */
async function dismiss(
  court: Court,
  accuser: Endpoint,
  witness: StateWitness,
  signal: AbortSignal,
): Promise<void> {
  const isApart = await orUntold(tellsBlocksApart(court.bridge, witness, accuser, signal))
  // Where the newest state does as well, such a one may still be better than none.
  if (isApart === false) return misled(court, accuser, witness)
  const fields = { endpoint: accuser.alias, block: witness.block.number }
  // On one side of a reorg, or a block behind: both may be honest.
  if ((await showsBlock(witness.block, accuser, signal)) === false) {
    accuser.state.strayed()
    court.logger.info('endpoint has another block: not asked for state for a moment', fields)
    return
  }
  accuser.state.contradicted()
  court.logger.warn('endpoint is alone with what it tells of the contracts: not asked for it', fields)
}

/** @returns false for another block at that height, or none; undefined where the endpoint would not say. */
async function showsBlock(
  { number, hash }: BlockHeader,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  return orUntold(findBlock(number, endpoint, signal).then((block) => block?.hash === encodeHex(hash)))
}

/** @returns undefined where the endpoint fails. */
async function orUntold<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RpcFailure) return undefined
    throw error
  }
}
