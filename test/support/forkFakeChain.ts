import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Hex } from 'viem'
import type { ReorgOptions } from './fakeChain.js'
import type { FakeTransactionBuilder } from './fakeChainOperations.js'
import type { Fault } from './fakeRpcFaults.js'

/** One transaction as data: calls of FakeTransactionBuilder by name. Arguments must be plain data. */
export interface FakeOperation {
  readonly tx?: { from?: Hex; to?: Hex }
  readonly calls: ReadonlyArray<readonly [keyof FakeTransactionBuilder, ...(readonly unknown[])]>
}

export type FakeChainCommand = { readonly networkId: number } & (
  | { readonly type: 'mine'; readonly operations: readonly FakeOperation[] }
  | { readonly type: 'mineEmpty'; readonly count: number }
  | {
      readonly type: 'reorg'
      readonly depth: number
      readonly blocks: Exclude<ReorgOptions['blocks'], undefined | readonly unknown[]>
      readonly extra: number
    }
  /** Functions cannot be sent to the child: no `when`, no `hold`. */
  | { readonly type: 'fail'; readonly fault: Fault }
  | { readonly type: 'clearFaults' | 'deposits' | 'claims' | 'roots' | 'calls' }
)

export type FakeChainReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }

export interface ForkedEndpoint {
  readonly networkId: number
  readonly url: string
  readonly chainId: number
  readonly bridge: Hex
  readonly globalExitRootManager: Hex
  readonly rollupManager: Hex
}

export interface ForkedFakeChain {
  readonly endpoints: readonly ForkedEndpoint[]
  /** Runs one command in the child. */
  tell(command: FakeChainCommand): Promise<unknown>
  close(): Promise<void>
}

/**
 * A fake world in a child process, for tests that block their own event loop or want to cut everything at once.
 * @param networks L2 ids of an empty world; left out: the small world of `fakeChainScenario.ts`.
 *
 *     const chain = await forkFakeChain([1])
 *     await chain.tell({ networkId: 0, type: 'mine', operations: [{ calls: [['deposit', { amount: 5n }]] }] })
 */
export async function forkFakeChain(networks?: readonly number[]): Promise<ForkedFakeChain> {
  const entry = fileURLToPath(new URL('./fakeChainProcess.js', import.meta.url))
  const args = networks ? [JSON.stringify({ networks })] : []
  const child = fork(entry, args, { serialization: 'advanced' })
  const waiting = new Map<number, (reply: FakeChainReply) => void>()
  let next = 0
  const reply = (id: number) => new Promise<FakeChainReply>((resolve) => waiting.set(id, resolve))
  const died = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the fake chain's process ended with code ${code}`)))
  })
  died.catch(() => {})
  child.on('message', (message: FakeChainReply) => {
    waiting.get(message.id)?.(message)
    waiting.delete(message.id)
  })
  const answer = async (id: number): Promise<unknown> => {
    const message = await Promise.race([reply(id), died])
    if (!message.ok) throw new Error(message.message)
    return message.value
  }
  const endpoints = (await answer(next++)) as ForkedEndpoint[]
  return {
    endpoints,
    tell: (command) => {
      const id = next++
      const value = answer(id)
      child.send({ id, command })
      return value
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}
