import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { serveAnswers, type WireAnswer } from '../support/wireServer.js'
import type { CallReport } from './processes/endpointReader.js'

const MIB = 1024 ** 2
const endpointReader = fileURLToPath(new URL('./processes/endpointReader.js', import.meta.url))

/** A process that asks an endpoint whose every answer but the first is `body`. */
async function readerOf(context: TestContext, body: readonly string[]) {
  let isFirst = true
  const { url, close } = await serveAnswers((): WireAnswer => {
    const answer: WireAnswer = isFirst ? { body: '{"id":1,"result":"0x1"}' } : { body }
    isFirst = false
    return answer
  })
  const child = fork(endpointReader, [url])
  context.after(async () => {
    child.kill()
    await close()
  })
  const ask = async (method: string): Promise<CallReport> => {
    child.send(method)
    const [report] = (await once(child, 'message')) as [CallReport]
    return report
  }
  const before = await ask('eth_chainId')
  assert.equal(before.failure, '')
  return async (method: string) => {
    const { failure, anonymousBytes, peakBytes } = await ask(method)
    return {
      failure,
      grownMiB: (anonymousBytes - before.anonymousBytes) / MIB,
      peakMiB: (peakBytes - before.peakBytes) / MIB,
    }
  }
}

for (const piece of ['[', '{"a":', '[],', '{},', '5e9,'])
  test(`an endpoint that answers with 64 MiB of ${piece} makes the memory grow by little for a head, and by the text's own size for logs`, async (context) => {
    const ask = await readerOf(context, Array(64).fill(piece.repeat(MIB / piece.length)))
    for (let time = 0; time < 3; time++) {
      const head = await ask('eth_getBlockByNumber')
      assert.equal(head.failure, 'alpha: the answer to eth_getBlockByNumber is too long')
      assert.ok(head.peakMiB < 64, `${head.peakMiB} MiB at the peak of a head`)
    }
    for (let time = 0; time < 3; time++) {
      const logs = await ask('eth_getLogs')
      assert.equal(logs.failure, 'alpha: the answer to eth_getLogs has too many or too deep values')
      // The text, and as much again while the memory for it grows.
      assert.ok(logs.peakMiB < 320, `${logs.peakMiB} MiB at the peak of logs`)
      assert.ok(logs.grownMiB < 320, `${logs.grownMiB} MiB after logs`)
    }
  })
