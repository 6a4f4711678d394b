import { after } from 'node:test'
import { nodeTransport } from '../../src/http/wire/nodeTransport.js'
import { loadEachUws } from '../../src/http/wire/uws.js'
import { uwsTransport } from '../../src/http/wire/uwsTransport.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { startHttpWorld, usualTransport } from '../support/httpWorld.js'

/** `npm run test:http` sets it. Without it the tests of the wire run on the usual transport alone, in a third of the time. */
const areAllWanted = process.env.BDS_TEST_TRANSPORTS === 'all'

/** Every transport that works here, for tests of the wire on each. */
export function eachTransport(): Transport[] {
  return areAllWanted ? [...loadEachUws().map(uwsTransport), nodeTransport] : [usualTransport()]
}

/** The usual transport and node:http: for tests that hold on every transport and depend on no build of uWebSockets.js. */
export function bothTransports(): Transport[] {
  return areAllWanted ? [...new Set([usualTransport(), nodeTransport])] : [usualTransport()]
}

/**
 * One world on each of `bothTransports`, for all tests of a file. All are there before the first test is named: `after` of a file is
 * called as soon as the tests that are named have ended, also while the file still waits for something (Node 20).
 */
export function bothWorlds() {
  return Promise.all(
    bothTransports().map(async (transport) => ({
      transport,
      world: await startHttpWorld({ after }, {}, undefined, transport),
    })),
  )
}
