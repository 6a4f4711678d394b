import { nodeTransport } from '../../src/http/wire/nodeTransport.js'
import { loadEachUws } from '../../src/http/wire/uws.js'
import { uwsTransport } from '../../src/http/wire/uwsTransport.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { usualTransport } from '../support/httpWorld.js'

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
