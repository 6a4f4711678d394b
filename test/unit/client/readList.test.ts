import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeApiError, BridgeRestartError, createBridgeClient } from '../../../src/client/bridgeClient.js'
import { type ListOptions, type ListRestart, readList } from '../../../src/client/readList.js'
import { answer, apiError, scriptedServer, testClock } from './scriptedServer.js'

const outdated = new BridgeApiError('INVALID_PARAMETER', 'cursor is outdated', {
  status: 400,
  attempts: 1,
  retryAfterMs: undefined,
})

/** A list whose pages are given in order, whatever the cursor: rows, `more` for a cursor behind them, or an error. */
function listOf(...pages: readonly (readonly [rows: string, more?: 'more'] | Error)[]) {
  const asked: (string | undefined)[] = []
  const askPage = async (cursor: string | undefined) => {
    asked.push(cursor)
    const page = pages[asked.length - 1]!
    if (page instanceof Error) throw page
    const nextCursor = page[1] === undefined ? null : `after ${page[0]}`
    return { rows: [...page[0]], pagination: { page: 1, limit: 1, total: 1, nextCursor } }
  }
  const rows = (options?: ListOptions) => readList(askPage, testClock(), options)
  return { asked, rows }
}

async function collect(rows: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const row of rows) text += row
  return text
}

test('rows come page by page, each page asked for with the cursor of the page before', async () => {
  const { asked, rows } = listOf(['ab', 'more'], ['', 'more'], ['c'])
  assert.equal(await collect(rows()), 'abc')
  assert.deepEqual(asked, [undefined, 'after ab', 'after '])
})

test('a page is asked for when its first row is wanted, and not when the reader has left', async () => {
  const { asked, rows } = listOf(['ab', 'more'], ['c'])
  const list = rows()
  assert.equal(asked.length, 0)
  for await (const row of list) if (row === 'b') break
  assert.deepEqual(asked, [undefined])
})

test('after a reorg the list is given again from its start, once the reader was told and is done with it', async () => {
  const { asked, rows } = listOf(['ab', 'more'], ['c', 'more'], outdated, ['aX', 'more'], ['cd'])
  let kept = ''
  const restarts: ListRestart[] = []
  const onRestart = async (restart: ListRestart) => {
    await new Promise(setImmediate)
    restarts.push(restart)
    kept = ''
  }
  for await (const row of rows({ onRestart })) kept += row
  assert.equal(kept, 'aXcd')
  assert.deepEqual(restarts, [{ restarts: 1, given: 3, error: outdated }])
  assert.deepEqual(asked, [undefined, 'after ab', 'after c', undefined, 'after aX'])
})

test('a reader that has not said what to do then gets an error and no row twice', async () => {
  const { asked, rows } = listOf(['ab', 'more'], outdated)
  const error = await collect(rows()).catch((caught: unknown) => caught)
  assert.ok(error instanceof BridgeRestartError)
  assert.deepEqual([error.code, error.given, error.cause], ['LIST_REPLACED', 2, outdated])
  assert.equal(asked.length, 2)
})

test('a list that is replaced again and again ends in an error', async () => {
  const { asked, rows } = listOf(['a', 'more'], outdated, ['a', 'more'], outdated, ['a', 'more'], outdated)
  const restarts: ListRestart[] = []
  const reading = collect(rows({ maxRestarts: 2, onRestart: (restart) => void restarts.push(restart) }))
  await assert.rejects(reading, BridgeRestartError)
  assert.deepEqual([asked.length, restarts.length], [6, 2])
})

test('a 400 without a cursor, and any other error with one, is the reader’s', async () => {
  const options = { onRestart: () => assert.fail('no restart') }
  await assert.rejects(collect(listOf(outdated).rows(options)), outdated)
  const notFound = new BridgeApiError('INVALID_NETWORK_ID', '', {
    status: 400,
    attempts: 1,
    retryAfterMs: undefined,
  })
  await assert.rejects(collect(listOf(['a', 'more'], notFound).rows(options)), notFound)
})

test('an abort between two rows ends the list', async () => {
  const { rows } = listOf(['abc'])
  const stop = new AbortController()
  const reason = new Error('not wanted')
  let text = ''
  const reading = (async () => {
    for await (const row of rows({ signal: stop.signal })) {
      text += row
      stop.abort(reason)
    }
  })()
  await assert.rejects(reading, reason)
  assert.equal(text, 'a')
})

const page = (next_cursor: string | null) =>
  answer(
    200,
    JSON.stringify({ token_mappings: [], pagination: { page: 1, limit: 9, total: 0, next_cursor } }),
  )

test('every page of a list has the filters of the first, oldest first unless asked otherwise, and a restart has no cursor', async (t) => {
  const server = await scriptedServer(
    t,
    page('AAAA'),
    apiError(400, 'INVALID_PARAMETER'),
    page(null),
    page(null),
  )
  const client = createBridgeClient({ baseUrl: server.url, clock: testClock() })
  const read = async (order?: 'desc') => {
    const filter = { pageSize: 9, tokenNetwork: 0, order }
    for await (const row of client.tokenMappings(filter, { onRestart() {} })) assert.fail(row.symbol ?? '')
  }
  await read()
  await read('desc')
  const list = 'GET /bridge/v1/token-mappings?page_size=9&token_network=0&order='
  assert.deepEqual(server.requests, [`${list}asc`, `${list}asc&cursor=AAAA`, `${list}asc`, `${list}desc`])
})
