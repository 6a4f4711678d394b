import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { BridgeView } from './bridgeView.js'
import { useWatch, type WatchState } from './changeWatch.js'
import { AddressView, ResultsView } from './foundViews.js'
import { Icon } from './icons.js'
import { namedNetwork } from './listFilters.js'
import { BridgesView, ClaimsView, TokensView } from './listViews.js'
import { OverviewView } from './overviewView.js'
import { goTo, type Place, usePlace } from './pageLocation.js'
import { docsUrl, settings } from './pageSettings.js'
import { Empty, failureWords, Link } from './pieces.js'
import { readSearch } from './searchText.js'
import { useTheme } from './theme.js'

/** The frame around every view, and which view a path shows. */

interface View {
  /** Of the window. */
  readonly title: string
  readonly content: JSX.Element
}

const sections = [
  ['', 'Overview'],
  ['bridges', 'Bridges'],
  ['claims', 'Claimed'],
  ['tokens', 'Tokens'],
] as const

function viewOf(place: Place): View {
  const [section = '', ...rest] = place.path.split('/')
  if (place.path === '') return { title: 'Overview', content: <OverviewView place={place} /> }
  if (place.path === 'bridges') return { title: 'Bridges', content: <BridgesView place={place} /> }
  if (place.path === 'claims') return { title: 'Claims', content: <ClaimsView place={place} /> }
  if (place.path === 'tokens') return { title: 'Tokens', content: <TokensView place={place} /> }
  const [first = '', second = ''] = rest
  if (section === 'bridge' && /^\d{1,10}$/.test(first) && /^\d{1,10}$/.test(second))
    return {
      title: `Bridge ${first}:${second}`,
      content: <BridgeView key={place.path} networkId={Number(first)} depositCount={Number(second)} />,
    }
  if (section === 'address' && /^0x[0-9a-f]{40}$/i.test(first))
    return { title: 'Address', content: <AddressView key={place.path} address={first} /> }
  if (section === 'tx' && /^0x[0-9a-f]{64}$/i.test(first))
    return { title: 'Transaction', content: <ResultsView key={place.path} q={first} title="Transaction" /> }
  const q = place.query.get('q')
  if (place.path === 'search' && q !== null)
    return { title: 'Search', content: <ResultsView key={q} q={q} title="Search" /> }
  return {
    title: 'Not found',
    content: (
      <Empty title="There is no such page." isView>
        <p>
          <Link to="">Go to the overview</Link>
        </p>
      </Empty>
    ),
  }
}

export function Shell(): JSX.Element {
  const place = usePlace()
  const { title, content } = viewOf(place)
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${title} · ${settings.title}`
    // Whoever cannot see the page is told that there is another view now.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [place.path])
  const section = place.path.split('/')[0] ?? ''
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="top">
        <div class="bar">
          <Link to="" class="brand">
            <Mark />
            <span>{settings.title}</span>
          </Link>
          <nav class="sections" aria-label="Pages">
            {sections.map(([path, name]) => (
              <Link key={path} to={ofSameNetwork(path, place)} current={isIn(path, section) && 'page'}>
                {name}
              </Link>
            ))}
            <a href={docsUrl}>API</a>
          </nav>
          <SearchBox />
          <LinkState />
          <ThemeButton />
        </div>
      </header>
      <LostBanner />
      <main id="main" tabIndex={-1} ref={main}>
        {content}
      </main>
    </>
  )
}

/** Whoever looks at one network goes on looking at it. */
function ofSameNetwork(path: string, place: Place): string {
  const named = namedNetwork(place)
  return named === undefined || path === 'tokens' ? path : `${path}?network=${named}`
}

function isIn(path: string, section: string): boolean {
  return path === section || (path === 'bridges' && section === 'bridge')
}

/** Two piers and what spans them. */
function Mark(): JSX.Element {
  return (
    <svg class="brand-mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M2 18h20M5 18V7M19 18V7M5 8c0 6 14 6 14 0" />
    </svg>
  )
}

function SearchBox(): JSX.Element {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement
      if (
        event.key !== '/' ||
        event.ctrlKey ||
        event.metaKey ||
        /^(input|select|textarea)$/i.test(target.tagName)
      )
        return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() === '') return
          const path = readSearch(text)
          setWrong(path === undefined)
          if (path === undefined) return
          setText('')
          input.current?.blur()
          goTo(path)
          scrollTo(0, 0)
        }}
      >
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          aria-label="Search"
          aria-invalid={isWrong}
          placeholder="Transaction, address, or bridge 1:25"
          title="1:25 is the bridge with number 25 from network 1"
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setWrong(false)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
        <span class="key" aria-hidden="true">
          /
        </span>
        {isWrong ? (
          <p class="hint" role="alert">
            That is neither a transaction hash, an address, a global index, nor a bridge such as 1:25 (number
            25 from network 1).
          </p>
        ) : null}
      </form>
    </search>
  )
}

const linkWords: { readonly [L in WatchState['link']]: { readonly word: string; readonly title: string } } = {
  starting: { word: 'Connecting', title: 'Asking the service' },
  live: { word: 'Live', title: 'Changes come as they happen' },
  looking: { word: 'Every 2 s', title: 'The page looks for changes every two seconds' },
  cut: { word: 'Reconnecting', title: 'Changes do not come by themselves at the moment' },
  lost: { word: 'Reconnecting', title: 'The service does not answer' },
  asleep: { word: 'Paused', title: 'Nobody looks at this page' },
}

function LinkState(): JSX.Element {
  const { link } = useWatch()
  const { word, title } = linkWords[link]
  return (
    <span class={`link ${link}`} role="status" title={title}>
      <span class="dot" aria-hidden="true" />
      <span>{word}</span>
    </span>
  )
}

/** What the page shows may no longer be what the service has. */
function LostBanner(): JSX.Element | null {
  const { link, sync, failure } = useWatch()
  if (link === 'cut')
    return (
      <p class="banner cut" role="status">
        Live updates are cut off. Until they are back the page looks every two seconds.
      </p>
    )
  if (link !== 'lost') return null
  return (
    <p class="banner" role="alert">
      {failureWords(failure).title}.{' '}
      {sync === undefined ? 'Trying again.' : 'What you see is as of a moment ago; trying again.'}
    </p>
  )
}

function ThemeButton(): JSX.Element {
  const { isDark, toggle } = useTheme()
  const label = isDark ? 'Light colours' : 'Dark colours'
  return (
    <button type="button" class="icon-button" title={label} aria-label={label} onClick={toggle}>
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  )
}
