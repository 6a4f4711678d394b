import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import {
  BridgeApiError,
  BridgeClientError,
  BridgeNetworkError,
  BridgeResponseError,
} from '../client/bridgeClient.js'
import { clientClock } from '../client/waits.js'
import { Icon, type IconName } from './icons.js'
import { goTo, hrefOf } from './pageLocation.js'
import { networkName, pageNetwork } from './pageSettings.js'
import { ago, duration, exactTime, shortHex } from './spelling.js'
import type { StateWords, Tone } from './words.js'

/** The small parts that every view is made of. */

interface LinkProps {
  /** Path below `/explorer/`, maybe with a query. */
  readonly to: string
  readonly class?: string
  readonly title?: string
  /** What of the page this link stands for, where the page shows it now. */
  readonly current?: 'page' | false
  readonly children: ComponentChildren
}

/** A link within the page. */
export function Link({ to, class: name, title, current, children }: LinkProps): JSX.Element {
  return (
    <a
      class={name}
      title={title}
      aria-current={current === 'page' ? current : undefined}
      href={hrefOf(to)}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        goTo(to)
        scrollTo(0, 0)
      }}
    >
      {children}
    </a>
  )
}

const toneIcons: { readonly [T in Tone]: IconName } = {
  good: 'check',
  busy: 'clock',
  ready: 'ready',
  bad: 'warn',
  quiet: 'dash',
}

export function Chip({ tone, word }: StateWords): JSX.Element {
  return (
    <span class={`chip ${tone}`}>
      <Icon name={toneIcons[tone]} />
      {word}
    </span>
  )
}

/** @param label stands on the button; without it the icon alone does. */
export function CopyButton({
  text,
  what,
  label,
}: {
  readonly text: string
  readonly what: string
  readonly label?: string
}): JSX.Element {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return undefined
    const timer = setTimeout(() => setDone(false), 1_500)
    return () => clearTimeout(timer)
  }, [isDone])
  return (
    <button
      type="button"
      class={label === undefined ? 'copy' : undefined}
      title={isDone ? 'Copied' : `Copy ${what}`}
      aria-label={label === undefined ? (isDone ? 'Copied' : `Copy ${what}`) : undefined}
      onClick={() => {
        navigator.clipboard?.writeText(text).then(
          () => setDone(true),
          () => undefined,
        )
      }}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      {label === undefined ? null : isDone ? 'Copied' : label}
    </button>
  )
}

type HexKind = 'address' | 'transaction'

/** An address or the hash of a transaction: short, to copy, with a link to the network's block explorer where the configuration names one. */
export function Hex({
  value,
  kind,
  networkId,
  isWhole = false,
}: {
  readonly value: string | null
  readonly kind: HexKind
  readonly networkId: number
  readonly isWhole?: boolean
}): JSX.Element {
  if (value === null) return <span class="muted">not known yet</span>
  const out = pageNetwork(networkId)?.explorerUrl
  const path = kind === 'address' ? 'address' : 'tx'
  return (
    <span class="hex">
      <Link to={`${path}/${value.toLowerCase()}`} class="mono" title={value}>
        {isWhole ? value : shortHex(value)}
      </Link>
      <CopyButton text={value} what={kind === 'address' ? 'address' : 'transaction hash'} />
      {out === undefined ? null : (
        <a
          class="copy"
          href={`${out}/${path}/${value}`}
          target="_blank"
          rel="noreferrer noopener"
          title={`Open in the block explorer of ${networkName(networkId)}`}
          aria-label={`Open in the block explorer of ${networkName(networkId)}`}
        >
          <Icon name="out" />
        </a>
      )}
    </span>
  )
}

/** A text that is only shown and copied: a root, a global index. */
export function Mono({ value, what }: { readonly value: string; readonly what: string }): JSX.Element {
  return (
    <span class="hex">
      <span class="mono" title={value}>
        {shortHex(value)}
      </span>
      <CopyButton text={value} what={what} />
    </span>
  )
}

const tickers = new Set<() => void>()
let isTicking = false

/** Seconds since 1970, moving once a second for all who show a time. */
export function useNowSec(): number {
  const [now, setNow] = useState(() => Math.floor(clientClock.unixMs() / 1000))
  useEffect(() => {
    const tick = (): void => setNow(Math.floor(clientClock.unixMs() / 1000))
    tickers.add(tick)
    if (!isTicking)
      setInterval(() => {
        if (!document.hidden) for (const other of tickers) other()
      }, 1_000)
    isTicking = true
    return () => void tickers.delete(tick)
  }, [])
  return now
}

export function Ago({ at }: { readonly at: number }): JSX.Element {
  const now = useNowSec()
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactTime(at)}>
      {ago(at, now)}
    </time>
  )
}

export function Route({ from, to }: { readonly from: number; readonly to: number }): JSX.Element {
  return (
    <span class="route">
      <span>{networkName(from)}</span>
      <Icon name="arrow" />
      <span class="unseen"> to </span>
      <span>{networkName(to)}</span>
    </span>
  )
}

/** What went wrong, what it means, and what happens now. */
export function Failure({ failure }: { readonly failure: unknown }): JSX.Element {
  const { title, text } = failureWords(failure)
  return (
    <div class="note bad" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{title}</strong>
        <p>{text}</p>
      </div>
    </div>
  )
}

/** @returns a title without a full stop, and what happens now. */
export function failureWords(failure: unknown): { readonly title: string; readonly text: string } {
  const waitMs = failure instanceof BridgeClientError ? failure.retryAfterMs : undefined
  const again =
    waitMs === undefined
      ? 'It is asked again in a moment.'
      : `It is asked again in ${duration(waitMs / 1000)}.`
  const busy = { title: 'The service is busy or starting', text: again }
  if (failure instanceof BridgeApiError) {
    if (failure.code === 'RATE_LIMIT_EXCEEDED')
      return {
        title: 'Too many requests',
        text: `This service limits how much one visitor may ask. ${again}`,
      }
    if (failure.status >= 500) return busy
    return { title: 'The service refused the question', text: failure.message.replace(/^[A-Z_]+: /, '') }
  }
  // What a proxy says while no service is behind it.
  if (failure instanceof BridgeResponseError && failure.status >= 500) return busy
  if (failure instanceof BridgeNetworkError)
    return navigator.onLine
      ? { title: 'The service does not answer', text: again }
      : { title: 'You are offline', text: 'The page goes on when the connection is back.' }
  return { title: 'Something went wrong', text: failure instanceof Error ? failure.message : String(failure) }
}

export function Empty({
  title,
  isView = false,
  children,
}: {
  readonly title: string
  /** Whether it is all that the page shows. */
  readonly isView?: boolean
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <div class="empty">
      {isView ? <h1>{title}</h1> : <strong>{title}</strong>}
      {children}
    </div>
  )
}
