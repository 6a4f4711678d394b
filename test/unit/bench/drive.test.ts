import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWrk } from '../../../bench/http/drive.js'

/** As wrk 4.1.0 prints it. */
const printed = (deviation: string): string => `Running 1s test @ http://127.0.0.1:8199/
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.34ms    0.97ms   8.27ms   ${deviation}%
    Req/Sec     1.56k   273.50     1.86k    ${deviation}%
  Latency Distribution
     50%  920.00us
     75%    1.52ms
     90%    2.61ms
     99%    1.07s
  1556 requests in 1.00s, 2.18MB read
Requests/sec:   1555.56
Transfer/sec:      2.18MB
`

test('times of wrk are those of its distribution, whatever share lies within the deviation', () => {
  for (const deviation of ['86.58', '89.50', '86.99', '50', '99'])
    assert.deepEqual(readWrk(printed(deviation)), {
      requests: 1556,
      perSecond: 1555.56,
      p50Ms: 0.92,
      p99Ms: 1070,
    })
})

test('a run with failed requests counts for nothing', () => {
  for (const line of ['Non-2xx or 3xx responses: 3', 'Socket errors: connect 0, read 0, write 0, timeout 3'])
    assert.throws(() => readWrk(`${printed('86.58')}  ${line}\n`), { name: 'VoidRun' })
})
