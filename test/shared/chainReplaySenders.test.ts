import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SenderQuestion } from '../../src/chain/chainClient.types.js'
import type { ChainEvent } from '../../src/protocol/chainEvent.js'
import { encodeHex } from '../../src/protocol/hex.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import { headOf, openClient, readAll } from './replayClient.js'
import { replayConfig, startReplay } from './replayServer.js'

const { signal } = new AbortController()

/** Questions for all transactions with deposits or claims. */
function questionsOf(events: readonly ChainEvent[]): SenderQuestion[] {
  const questions = new Map<string, SenderQuestion & { readonly logs: SenderQuestion['logs'][number][] }>()
  for (const event of events) {
    if (event.type !== 'deposit' && event.type !== 'claim') continue
    const key = encodeHex(event.transactionHash)
    const { transactionHash, blockNumber } = event
    const question = questions.get(key) ?? { transactionHash, blockNumber, logs: [] }
    question.logs.push({ kind: event.type, ...event })
    questions.set(key, question)
  }
  return [...questions.values()]
}

for (const set of ['base', 'v12-v9-legacy'])
  for (const traces of ['with call traces', 'without call traces'] as const)
    test(`senders of ${set} ${traces}: caller and tx.from are as expected`, async () => {
      const server = await startReplay(set)
      let differing = 0
      let checked = 0
      try {
        for (const networkId of [0, 1, 2]) {
          const { client } = openClient(replayConfig(server, networkId))
          if (traces === 'without call traces') server.nodes[networkId]!.faults.on('noDebug', {})
          const blocks = await readAll(client, headOf(server, networkId))
          const questions = questionsOf(blocks.flatMap(({ events }) => events))
          const senders = await client.resolveSenders(questions, signal)
          const { bridges, claims } = server.set.expected
          const rows = [
            ...bridges.filter((row) => row.sourceNetwork === networkId),
            ...claims.filter((row) => row.network === networkId),
          ]
          assert.equal(senders.size, rows.length)
          for (const row of rows) {
            const sender = senders.get(`${row.txHash}:${row.logIndex}`)
            assert.ok(sender, `${row.txHash}:${row.logIndex}`)
            const isMessage = 'leafType' in row && row.leafType === 1
            const untraced = isMessage ? row.originAddress : row.txFrom
            const caller = traces === 'with call traces' ? (row.caller ?? row.txFrom) : untraced
            assert.equal(encodeHex(sender.caller), caller.toLowerCase(), row.txHash)
            assert.equal(encodeHex(sender.transactionSender), row.txFrom, row.txHash)
            const isOpen = traces === 'without call traces' && (row.caller ?? row.txFrom) !== caller
            if (isOpen) assert.equal(sender.isProvisional, true, 'to be asked for again')
            if (traces === 'with call traces') assert.equal(sender.isProvisional, false)
            if (caller !== row.txFrom) differing++
            checked++
          }
          if (traces === 'without call traces')
            assert.ok(
              (server.nodes[networkId]!.stats.calls.debug_traceTransaction ?? 0) <= 4,
              'asked, then remembered',
            )
          client.close()
        }
      } finally {
        server.close()
      }
      assert.ok(checked >= 35 && differing >= 2, `${checked} checked, ${differing} called through a contract`)
    })

test('getters return root and count of the bridge, and which roots a legacy manager knows', async () => {
  const server = await startReplay('v12-v9-legacy')
  try {
    const { client } = openClient(replayConfig(server, 2, { gerInjection: 'poll' }))
    await client.verifyIdentity(signal)
    const { networks, injectedGers } = server.set.expected
    const head = asBlockNumber(networks[2]!.head)
    assert.equal(
      encodeHex((await client.getContractLocalExitRoot(head, signal))!),
      networks[2]!.localExitRoot,
    )
    const known = new Set(injectedGers[2]!.map(({ globalExitRoot }) => globalExitRoot))
    const asked = injectedGers[0]!.map(({ globalExitRoot }) => globalExitRoot)
    const answers = await client.findInjectedGers(
      asked.map((globalExitRoot) => Buffer.from(globalExitRoot.slice(2), 'hex')),
      head,
      signal,
    )
    assert.deepEqual(
      answers,
      asked.map((globalExitRoot) => known.has(globalExitRoot)),
    )
    assert.ok(answers.includes(true) && answers.includes(false))
    client.close()
  } finally {
    server.close()
  }
})
