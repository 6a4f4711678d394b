import { createBridgeClient } from '../client/bridgeClient.js'
import type { PageNetwork, PageSettings } from './pageSettings.types.js'

/** This file is served as `…/explorer/assets/…`, so a proxy may put any path in front of `/explorer`. */
const root = new URL('..', import.meta.url)

/** Path of the page, with a slash at its end: `/explorer/`. */
export const basePath = root.pathname

/** Address of the API, without a slash at its end. */
export const apiUrl = new URL('..', root).href.replace(/\/$/, '')

export const docsUrl = `${apiUrl}/docs`

export const settings = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=page-settings]')!.content,
) as PageSettings

const networks = new Map(
  settings.networks.map((network): [number, PageNetwork] => [network.networkId, network]),
)

export const networkIds = [...networks.keys()].sort((a, b) => a - b)

export function pageNetwork(networkId: number): PageNetwork | undefined {
  return networks.get(networkId)
}

/** The name that the configuration gives a network, or its number. */
export function networkName(networkId: number): string {
  return networks.get(networkId)?.name ?? (networkId === 0 ? 'Layer 1' : `Network ${networkId}`)
}

let firstPosition: string | undefined

/** Where feeds were before the first list was read that the page has asked for; undefined while there is none. */
export function feedPosition(): string | undefined {
  return firstPosition
}

/**
 * Asks once: whoever shows an answer says what went wrong, and when it is asked again. `no-cache` has the browser send the tag of what it has
 * with each question, so what has not changed comes as a 304 without a body.
 */
export const api = createBridgeClient({
  baseUrl: apiUrl,
  attempts: 1,
  async fetch(url, init) {
    const response = await fetch(url, { ...init, cache: 'no-cache' })
    firstPosition ??= response.headers.get('x-feed-position') ?? undefined
    return response
  },
})
