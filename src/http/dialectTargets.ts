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

/** Makes targets of the dialects that are switched on. */
export function speakDialects(
  config: Pick<Config, 'dialects' | 'networks' | 'primaryNetwork'>,
  health: Pick<HealthSource, 'syncStatus'>,
): SpokenDialects {
  const targets = new Map<string, Target>()
  /** By what stands in front of the value. */
  const withValue = new Map<string, { readonly name: string; readonly target: SpokenTarget }>()
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
      const [, front, name] = VALUE_AT_END.exec(path) ?? []
      if (front === undefined || name === undefined) add(path, target)
      else withValue.set(basePath + front, { name, target })
    }
    for (const probe of probes)
      add(probe.path, {
        type: 'probe',
        route: probe.label,
        respond: (exchange, rawQuery = '') => answerProbe(exchange, probe, facts, rawQuery),
        spellRefusal: refuse,
      })
    for (const { path, label, to } of redirects) {
      const answer = redirection(to)
      add(path, {
        type: 'document',
        route: label,
        answers: { identity: answer, gzip: answer, br: answer },
        spellRefusal: refuse,
      })
    }
  }
  const { aggkit, proof, zkevm } = config.dialects
  if (aggkit !== undefined) speak(aggkit.basePath, dialects.aggkit[aggkit.release])
  if (proof !== undefined) speak(proof.basePath, dialects.proof.latest)
  if (zkevm !== undefined) speak(zkevm.basePath, dialects.zkevm.latest)
  return {
    targets,
    findWithValue(path) {
      const [, front, value] = VALUE.exec(path) ?? []
      const found = front === undefined ? undefined : withValue.get(front)
      return found && { ...found.target, given: `${found.name}=${value}` }
    },
    findSpelling: (path) =>
      spellings.find(({ basePath }) => path.startsWith(basePath) && isEnd(path, basePath.length))?.spell,
  }
}

type SpokenTarget = Extract<Target, { readonly type: 'spoken' }>

const VALUE_AT_END = /^(.*\/)\{(\w+)\}$/
/** A value in a path can't end a parameter of a query string. */
const VALUE = /^(.*\/)([\w.~%-]+)\/?$/

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
