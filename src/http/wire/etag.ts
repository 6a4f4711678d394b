import type { ContentCoding } from '../../pool/contentCoding.js'

/** Strong, so each coding has its own: other bytes, other tag. */
export function entityTag(tag: string, coding: ContentCoding): string {
  return coding === 'identity' ? `"${tag}"` : `"${tag}-${coding}"`
}

/**
 * Whether `If-None-Match` names `etag`. Compared weakly, as the standard wants it here: proxies that code bodies
 * themselves put `W/` in front of our tags.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true
  for (const item of ifNoneMatch.split(',')) {
    const named = item.trim()
    if (named === '*' || named === etag || (named.startsWith('W/') && named.slice(2) === etag)) return true
  }
  return false
}
