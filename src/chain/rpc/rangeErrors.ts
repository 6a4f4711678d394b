import type { RpcFailure } from './rpcFailure.js'

/**
 * What a refused `eth_getLogs` means for the next try. Providers say "too wide" and "too many" in dozens of ways, with all
 * kinds of codes and HTTP statuses. So the text decides first, then the codes.
 */
export type LogsProblem =
  /** The range is too wide; `maxBlocks` when the provider states how wide it may be. */
  | { readonly type: 'tooWide'; readonly maxBlocks?: number }
  /** These blocks have too many logs or bytes: ask for half of them. For other blocks the same width may be right. */
  | { readonly type: 'tooMany' }
  | { readonly type: 'beyondHead' }
  | { readonly type: 'historyGone' }
  | { readonly type: 'rateLimit' }
  | { readonly type: 'unknown' }

/** `10000`, `10,000`, `10_000`, `10k`, `0x2710`. */
const NUMBER = String.raw`(0x[0-9a-f]+|\d[\d,_]*(?:\.\d+)?\s?k?)(?![\d.])`

/** Phrases that state a maximum span; N stands for the number. */
const STATED_SPANS = [
  /maximum is set to N/,
  /max(?:imum)?(?: allowed)?(?: block)? range(?: is| of)?:? N/,
  /maximum allowed number of requested blocks is N/,
  /limited to (?:a )?N/,
  /allowed for your plan \([\dx,_a-f]+ ?> ?N\)/,
  /(?:at most|up to)(?: a)? N[ -]blocks?/,
  /block range (?:is )?greater than N/,
  /block range (?:limit )?exceeds N/,
  /max(?:imum)? is N/,
  /\(max(?:imum)?:? N/,
  /blocks distance: N/,
  /ranges over N blocks/,
  /range [\dx,_a-f]+ exceeds limit of N/,
  /bigger than (?:range )?limit N/,
  /smaller than size N/,
].map((phrase) => new RegExp(phrase.source.replace('N', NUMBER), 'i'))

/** Phrases without a number, and the width that the providers who use them are known to serve. */
const KNOWN_SPANS: readonly (readonly [RegExp, number])[] = [
  [/block range is too wide/i, 3_000],
  [/block range limit exceeded/i, 10_000],
]

const TOO_MANY =
  /returned more than|exceeds max results|logs matched by query|response size|response (is )?too (large|big)|response too large|timeout exceeded|query timed? ?out|too many (logs|results)|narrow/i

const TOO_WIDE =
  /range threshold exceeded|exceeded max(imum)? allowed|no backend is currently healthy|range (is )?too (large|wide|big)|could not coalesce error|request entity too large|block range|exceed.{0,20}range|range.{0,20}(exceed|limit)/i

const BEYOND_HEAD =
  /beyond (the )?(current )?head|unknown block|header not found|block not found|past the (current )?head|greater than (the )?latest|after last accepted block|fromblock.{0,20}(larger|greater)|block range extends/i

const HISTORY_GONE =
  /pruned|history.{0,30}(unavailable|expired)|missing trie node|state is not available|archive/i

const RATE_LIMIT =
  /too many requests|rate.?limit|requests? (limit|rate)|request count exceeded|compute units per second|throughput|per second|capacity exceeded|quota|slow down/i

/** Whether the text asks to slow down, rather than to ask for less. */
export function isRateLimitText(text: string): boolean {
  return RATE_LIMIT.test(text) && statedSpan(text) === undefined && suggestedSpan(text) === undefined
}

/** @param span how many blocks were asked for. */
export function classifyLogsFailure(failure: RpcFailure, span: number): LogsProblem {
  const { text, status, code, data } = failure.providerWords()
  const named = suggestedSpan(text) ?? suggestedSpan(rangeInData(data)) ?? statedSpan(text)
  // If the stated width is not below `span`, the provider counts in another way: then only halving helps.
  if (named !== undefined) return named >= 1 && named < span ? tooWide(named) : { type: 'tooWide' }
  if (failure.kind === 'rateLimit') return { type: 'rateLimit' }
  if (TOO_MANY.test(text)) return { type: 'tooMany' }
  for (const [phrase, blocks] of KNOWN_SPANS)
    if (phrase.test(text)) return tooWide(Math.min(blocks, Math.max(1, Math.floor(span / 2))))
  if (HISTORY_GONE.test(text) || code === 4444) return { type: 'historyGone' }
  if (BEYOND_HEAD.test(text)) return { type: 'beyondHead' }
  if (TOO_WIDE.test(text) || status === 413 || code === -32614) return { type: 'tooWide' }
  return { type: 'unknown' }
}

const tooWide = (maxBlocks: number): LogsProblem => ({ type: 'tooWide', maxBlocks })

/** Width of a range `[0x…, 0x…]` that the provider suggests. */
function suggestedSpan(text: string): number | undefined {
  const [, from, to] = /\[\s*(0x[0-9a-f]+)\s*,\s*(0x[0-9a-f]+)\s*\]/i.exec(text) ?? []
  if (from === undefined || to === undefined) return undefined
  const blocks = Number(to) - Number(from) + 1
  return blocks >= 1 ? blocks : undefined
}

function rangeInData(data: unknown): string {
  if (typeof data !== 'object' || data === null || !('from' in data) || !('to' in data)) return ''
  const { from, to } = data
  return typeof from === 'string' && typeof to === 'string' ? `[${from}, ${to}]` : ''
}

function statedSpan(text: string): number | undefined {
  for (const phrase of STATED_SPANS) {
    const digits = phrase.exec(text)?.[1]
    if (digits !== undefined) return blockCount(digits)
  }
  return undefined
}

function blockCount(digits: string): number {
  const plain = digits.toLowerCase().replace(/[,_\s]/g, '')
  if (plain.startsWith('0x')) return Number(plain)
  return plain.endsWith('k') ? Math.floor(Number(plain.slice(0, -1)) * 1000) : Math.floor(Number(plain))
}
