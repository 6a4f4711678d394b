import type { TestContext } from 'node:test'

type Look = (value: bigint | number) => void

/**
 * Calls `look` at each write to the status board, the moments at which another thread could read it.
 * @param value what is written, or added.
 */
export function atEachWrite(
  context: TestContext,
  { before, after }: { readonly before?: Look; readonly after?: Look },
): void {
  for (const name of ['store', 'add', 'compareExchange'] as const) {
    const write = Atomics[name] as (...args: unknown[]) => unknown
    context.mock.method(Atomics, name, (...args: unknown[]) => {
      const value = args.at(-1) as bigint | number
      before?.(value)
      const result = write(...args)
      after?.(value)
      return result
    })
  }
}
