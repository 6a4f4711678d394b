import { useEffect, useState } from 'preact/hooks'
import { basePath } from './pageSettings.js'

/** Where the page is: path below `/explorer/`, and what stands behind the `?`. */
export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

const listeners = new Set<() => void>()
addEventListener('popstate', tell)

function tell(): void {
  for (const listener of listeners) listener()
}

function placeNow(): Place {
  return {
    path: location.pathname.slice(basePath.length).replace(/\/$/, ''),
    query: new URLSearchParams(location.search),
  }
}

export function usePlace(): Place {
  const [place, setPlace] = useState(placeNow)
  useEffect(() => {
    const listener = (): void => setPlace(placeNow())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return place
}

/** @param path below `/explorer/`, without a slash in front, maybe with a query. */
export function hrefOf(path: string): string {
  return basePath + path
}

export function goTo(path: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'replace') history.replaceState(history.state, '', hrefOf(path))
  else history.pushState({ isInside: true }, '', hrefOf(path))
  tell()
}

/** Whether going back stays in this page. */
export function canGoBack(): boolean {
  return (history.state as { isInside?: boolean } | null)?.isInside === true
}

/** The same path with some parameters changed; undefined and '' drop one. */
export function withQuery(place: Place, changes: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(place.query)
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  const text = String(query)
  return text === '' ? place.path : `${place.path}?${text}`
}
