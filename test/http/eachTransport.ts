import { nodeTransport } from '../../src/http/wire/nodeTransport.js'
import { loadEachUws } from '../../src/http/wire/uws.js'
import { uwsTransport } from '../../src/http/wire/uwsTransport.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { usualTransport } from '../support/httpWorld.js'

/** Every transport that works here, for tests of the wire on each. */
export function eachTransport(): Transport[] {
  return [...loadEachUws().map(uwsTransport), nodeTransport]
}

/** The usual transport and node:http: for tests that hold on every transport and depend on no build of uWebSockets.js. */
export function bothTransports(): Transport[] {
  return [...new Set([usualTransport(), nodeTransport])]
}
