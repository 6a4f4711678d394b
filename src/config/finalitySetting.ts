import type { Finality } from './config.types.js'

const AGGKIT_TAGS: Readonly<Record<string, Finality['tag']>> = {
  LatestBlock: 'latest',
  SafeBlock: 'safe',
  FinalizedBlock: 'finalized',
}

/** `finalized`, or `finalized-64` for a finality that is so many blocks below the tag. */
export function spellFinality({ tag, depth }: Finality): string {
  return depth === 0 ? tag : `${tag}-${depth}`
}

/**
 * Reads `latest`, `safe`, `finalized`, `depth:64`, `finalized-64`, and aggkit's spellings `FinalizedBlock`, `LatestBlock/-6`.
 * @returns undefined for anything else.
 */
export function parseFinality(text: string): Finality | undefined {
  const depth = /^depth:(\d{1,7})$/.exec(text)?.[1]
  if (depth !== undefined) return { tag: 'latest', depth: Number(depth) }
  const own = /^(latest|safe|finalized)(?:-(\d{1,7}))?$/.exec(text)
  if (own !== null) return { tag: own[1] as Finality['tag'], depth: Number(own[2] ?? 0) }
  const [, name, below] = /^([A-Za-z]+)(?:\/-(\d{1,7}))?$/.exec(text) ?? []
  const tag = name === undefined ? undefined : AGGKIT_TAGS[name]
  return tag === undefined ? undefined : { tag, depth: Number(below ?? 0) }
}
