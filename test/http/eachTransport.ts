import { loadEachUws } from '../../src/http/wire/uws.js'
import { uwsTransport } from '../../src/http/wire/uwsTransport.js'
import type { Transport } from '../../src/http/wire/wire.js'

/** Every transport that works here, for tests of the wire on each. */
export function eachTransport(): Transport[] {
  return loadEachUws().map(uwsTransport)
}
