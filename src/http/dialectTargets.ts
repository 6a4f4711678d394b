import { dialectForms, dialects } from '../api/dialects/dialects.js'
import type { Dialect, DialectProbe, FrontFacts } from '../api/dialects/frame/dialect.js'
import { goJson } from '../api/dialects/frame/goParameters.js'
import type { Config } from '../config/config.types.js'
import type { HealthSource } from '../health/healthSource.types.js'
import { unixMs } from '../telemetry/clocks.js'
import type { Target } from './targets.js'
import { NO_STORE } from './wire/cacheControl.js'
import type { Exchange, Outgoing } from './wire/exchange.js'
import { headerLines, JSON_LINES } from './wire/headers.js'

/** The dialects that a service speaks, as its front needs them. */
interface SpokenDialects {
  /** Every path, with and without a slash at its end. */
  readonly targets: ReadonlyMap<string, Target>
  /** Looks for a path that ends with a value. */
  findWithValue(path: string): Target | undefined
  /** How errors are spelled on a path that nothing answers; undefined outside of all base paths. */
  findSpelling(path: string): Exchange['spellRefusal']
}

export type DialectName = keyof Config['dialects']

/** The dialects that have a port of their own, and which. */
export function dialectPorts({
  aggkit,
  hub,
  proof,
  zkevm,
}: Config['dialects']): readonly (readonly [DialectName, number])[] {
  return Object.entries({ aggkit, hub, proof, zkevm }).flatMap(([name, dialect]) =>
    // Object.entries forgets which keys there are.
    dialect?.port === undefined ? [] : [[name as DialectName, dialect.port] as const],
  )
}

/**
 * Makes targets of the dialects that are switched on.
 * @param alone one that has a port of its own: it alone, without its base path, and without what leads elsewhere.
 */
export function speakDialects(
  config: Pick<Config, 'dialects' | 'networks' | 'primaryNetwork'>,
  health: Pick<HealthSource, 'syncStatus'>,
  alone?: DialectName,
): SpokenDialects {
  const targets = new Map<string, Target>()
  /** By how many values stand at the end, and what stands in front of them. */
  const withValues = new Map<string, { readonly names: readonly string[]; readonly target: SpokenTarget }>()
  const spellings: { readonly basePath: string; readonly spell: Dialect['refuse'] }[] = []
  const servedNetworks = new Set(config.networks.map(({ networkId }) => networkId))
  const facts: FrontFacts = {
    syncStatus: () => health.syncStatus(),
    primaryNetwork: config.primaryNetwork,
    unixMs,
  }
  const speak = (basePath: string, { endpoints, probes, redirects, refuse }: Dialect): void => {
    spellings.push({ basePath, spell: refuse })
    const add = (path: string, target: Target): void => {
      const whole = path === '/' ? basePath : basePath + path
      targets.set(whole, target)
      targets.set(`${whole}/`, target)
    }
    for (const { path, label, operation, form, createParser } of endpoints) {
      const target: SpokenTarget = {
        type: 'spoken',
        route: label,
        operation,
        endpoint: { label, form: dialectForms.indexOf(form), parse: createParser(servedNetworks) },
        spellRefusal: refuse,
      }
      const [, front, ...named] = VALUES_AT_END.exec(path) ?? []
      const names = named.filter((name) => name !== undefined)
      if (front === undefined) add(path, target)
      else withValues.set(`${names.length} ${basePath}${front}`, { names, target })
    }
    for (const probe of probes)
      add(probe.path, {
        type: 'probe',
        route: probe.label,
        respond: (exchange, rawQuery = '') => answerProbe(exchange, probe, facts, rawQuery),
        spellRefusal: refuse,
      })
    for (const { path, label, to } of alone === undefined ? redirects : []) {
      const answer = redirection(to)
      add(path, {
        type: 'document',
        route: label,
        answers: { identity: answer, gzip: answer, br: answer },
        spellRefusal: refuse,
      })
    }
  }
  const { aggkit, hub, proof, zkevm } = config.dialects
  const speakIf = (name: DialectName, basePath: string | undefined, dialect: () => Dialect): void => {
    if (basePath === undefined || (alone !== undefined && alone !== name)) return
    speak(alone === undefined ? basePath : '', dialect())
  }
  speakIf('aggkit', aggkit?.basePath, () => dialects.aggkit[aggkit!.release])
  speakIf('hub', hub?.basePath, () => dialects.hub.latest)
  speakIf('proof', proof?.basePath, () => dialects.proof.latest)
  speakIf('zkevm', zkevm?.basePath, () => dialects.zkevm.latest)
  return {
    targets,
    findWithValue(path) {
      for (const form of VALUES) {
        const [, front, ...values] = form.exec(path) ?? []
        const found = front === undefined ? undefined : withValues.get(`${values.length} ${front}`)
        if (found === undefined) continue
        return { ...found.target, given: found.names.map((name, at) => `${name}=${values[at]}`).join('&') }
      }
      return undefined
    },
    findSpelling: (path) =>
      spellings.find(({ basePath }) => path.startsWith(basePath) && isEnd(path, basePath.length))?.spell,
  }
}

type SpokenTarget = Extract<Target, { readonly type: 'spoken' }>

const VALUES_AT_END = /^([^{]*\/)\{(\w+)\}(?:\/\{(\w+)\})?$/
/** A value in a path can't end a parameter of a query string. */
const VALUES = [/^(.*\/)([\w.~%-]+)\/?$/, /^(.*\/)([\w.~%-]+)\/([\w.~%-]+)\/?$/]

function isEnd(path: string, at: number): boolean {
  return path.length === at || path[at] === '/'
}

function answerProbe(exchange: Exchange, probe: DialectProbe, facts: FrontFacts, rawQuery: string): void {
  const answer = probe.answer(facts, rawQuery)
  if (!answer.ok) exchange.refuse(answer)
  else
    exchange.send({
      status: 200,
      body: goJson(answer.value),
      cacheControl: NO_STORE,
      lines: '',
      bodyLines: JSON_LINES,
      etag: '',
    })
}

function redirection(to: string): Outgoing {
  return {
    status: 302,
    body: '',
    cacheControl: NO_STORE,
    lines: headerLines([['Location', to]]),
    bodyLines: '',
    etag: '',
  }
}
