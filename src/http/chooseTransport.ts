import type { HttpConfig } from '../config/config.types.js'
import { ConfigError } from '../config/configError.js'
import { OperatorError } from '../errors/operatorError.js'
import { nodeTransport } from './wire/nodeTransport.js'
import { loadUws } from './wire/uws.js'
import { uwsTransport } from './wire/uwsTransport.js'
import type { Transport } from './wire/wire.js'

interface ChosenTransport {
  readonly transport: Transport
  /** Why node:http takes the place of uWebSockets.js; undefined where the configuration wants it, or where it does not. */
  readonly reason: string | undefined
}

/**
 * The transport that `http.transport` names. `auto` is uWebSockets.js wherever a native build of it loads, else node:http.
 * @throws ConfigError when the configuration wants uWebSockets.js, and no native build loads.
 */
export function chooseTransport({
  transport,
  adaptCore,
}: Pick<HttpConfig, 'transport' | 'adaptCore'>): ChosenTransport {
  if (transport === 'node') return { transport: nodeTransport, reason: undefined }
  try {
    return { transport: uwsTransport(loadUws(adaptCore)), reason: undefined }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    if (transport === 'uws') throw new ConfigError([`http.transport is uws, but ${error.message}`])
    return { transport: nodeTransport, reason: error.message }
  }
}

/** Name and version, for logs, metrics and `doctor`. */
export function transportLabel({ name, version }: Transport): string {
  return `${name} ${version}`
}
