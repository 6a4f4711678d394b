import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api } from './pageSettings.js'
import { exactAmount, grouped, plainText, shortAmount, tokenOfMetadata } from './spelling.js'

/** Symbols and decimals of tokens, by network and address of either side. */

interface KnownToken {
  readonly symbol: string
  readonly decimals: number
}

const ETHER: KnownToken = { symbol: 'ETH', decimals: 18 }
const ZERO_ADDRESS = /^0x0{40}$/
const MOST_MAPPINGS = 1_000

let book: Promise<ReadonlyMap<string, KnownToken>> | undefined

function keyOf(networkId: number, address: string): string {
  return `${networkId}:${address.toLowerCase()}`
}

async function readBook(): Promise<ReadonlyMap<string, KnownToken>> {
  const { tokenMappings } = await api.getTokenMappings({ pageSize: MOST_MAPPINGS })
  const tokens = new Map<string, KnownToken>()
  // Newest first, and the newest counts.
  for (const mapping of tokenMappings.toReversed()) {
    const symbol = mapping.symbol === null ? undefined : plainText(mapping.symbol)
    if (symbol === undefined || mapping.decimals === null) continue
    const token = { symbol, decimals: mapping.decimals }
    tokens.set(keyOf(mapping.originNetwork, mapping.originTokenAddress), token)
    tokens.set(keyOf(mapping.wrappedNetwork, mapping.wrappedTokenAddress), token)
  }
  return tokens
}

/** @returns undefined until it has been read; then it holds the newest thousand mappings. */
export function useTokenBook(): ReadonlyMap<string, KnownToken> | undefined {
  const [tokens, setTokens] = useState<ReadonlyMap<string, KnownToken>>()
  useEffect(() => {
    book ??= readBook()
    book.then(setTokens, () => {
      book = undefined
    })
  }, [])
  return tokens
}

interface Transfer {
  readonly amount: bigint
  readonly tokenNetwork: number
  readonly tokenAddress: string
  readonly leafType?: number
  readonly metadata?: string | null
}

const COIN = 'coin'

/** The same text for all transfers of one token. */
export function tokenKey({ tokenNetwork, tokenAddress, leafType }: Omit<Transfer, 'amount'>): string {
  // A message carries the coin of the network, and its metadata are its own.
  const isCoin = leafType === 1 || (tokenNetwork === 0 && ZERO_ADDRESS.test(tokenAddress))
  return isCoin ? COIN : keyOf(tokenNetwork, tokenAddress)
}

export function knownToken(
  transfer: Omit<Transfer, 'amount'>,
  tokens: ReadonlyMap<string, KnownToken> | undefined,
): KnownToken | undefined {
  const key = tokenKey(transfer)
  if (key === COIN) return ETHER
  const { metadata } = transfer
  return (metadata == null ? undefined : tokenOfMetadata(metadata)) ?? tokens?.get(key)
}

/** An amount with the symbol of its token; the exact value on hover. */
export function Amount(transfer: Transfer): JSX.Element {
  const token = knownToken(transfer, useTokenBook())
  const { amount, leafType } = transfer
  if (leafType === 1 && amount === 0n) return <span class="muted">Message only</span>
  if (token === undefined)
    return (
      <span class="amount" title={`${grouped(amount)} units of a token whose decimals are not known`}>
        {shortAmount(amount, 0)} <span class="muted">units</span>
      </span>
    )
  return (
    <span class="amount" title={`${exactAmount(amount, token.decimals)} ${token.symbol}`}>
      {shortAmount(amount, token.decimals)} <bdi class="symbol">{token.symbol}</bdi>
    </span>
  )
}
