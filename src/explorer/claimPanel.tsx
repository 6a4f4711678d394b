import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Bridge, ClaimTransactionResponse } from '../client/bridgeClient.js'
import { clientClock } from '../client/waits.js'
import { findWallets, type Provider, publicProvider, type Wallet } from './chainCalls.js'
import { api, networkName, settings } from './pageSettings.js'
import { Hex } from './pieces.js'
import { grouped, shortHex } from './spelling.js'

/** Claims a bridge that is ready, with the call that the service has made: by a wallet of the browser, or on the devnet by an account of its node. */

type Progress =
  | { readonly step: 'idle' }
  | { readonly step: 'busy'; readonly text: string }
  | { readonly step: 'failed'; readonly text: string }
  | { readonly step: 'sent'; readonly txHash: string; readonly gas: bigint }
  | { readonly step: 'done'; readonly txHash: string }

/** Codes of EIP-1193 and EIP-3085. */
const REFUSED_BY_USER = 4001
const UNKNOWN_CHAIN = 4902
const LOOK_MS = 1_000

export function ClaimPanel({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const [wallets, setWallets] = useState<readonly Wallet[]>([])
  const [progress, setProgress] = useState<Progress>({ step: 'idle' })
  useEffect(() => findWallets(setWallets), [])
  const { destinationNetwork } = bridge
  const name = networkName(destinationNetwork)
  const node = settings.hasUnlockedAccounts ? publicProvider(destinationNetwork) : undefined
  const isBusy = progress.step === 'busy' || progress.step === 'sent'
  const start = (provider: Provider, asks: 'eth_requestAccounts' | 'eth_accounts'): void => {
    claim(provider, asks, bridge, setProgress).catch((error: unknown) =>
      setProgress({ step: 'failed', text: failureText(error, name) }),
    )
  }
  return (
    <section aria-labelledby="claim" class="panel">
      <h2 id="claim">Claim</h2>
      <p class="muted">
        Anybody may claim. The account that sends the claim pays its fee on {name};{' '}
        {bridge.leafType === 0
          ? 'the receiver gets what was sent.'
          : 'the message is delivered to its receiver.'}
      </p>
      {node === undefined ? null : (
        <p class="muted">
          This is a devnet, a network for tests on this machine, so there is a button that needs no wallet: it
          sends the claim from a test account of the devnet's own node, which pays the fee in test coins. No
          account of yours is used. Other networks have no such button.
        </p>
      )}
      <p class="actions">
        {node === undefined ? null : (
          <button type="button" class="main" disabled={isBusy} onClick={() => start(node, 'eth_accounts')}>
            Claim with a test account
          </button>
        )}
        {wallets.map(({ id, name, icon, provider }) => (
          <button
            key={id}
            type="button"
            disabled={isBusy}
            onClick={() => start(provider, 'eth_requestAccounts')}
          >
            {icon === undefined ? null : <img src={icon} alt="" width={16} height={16} />}
            Claim with {name}
          </button>
        ))}
      </p>
      {node === undefined && wallets.length === 0 ? (
        <p class="muted">
          There is no wallet in this browser. Install one, or send the claim call (below, under "For
          programs") with any other tool.
        </p>
      ) : null}
      <ProgressText progress={progress} networkId={destinationNetwork} />
    </section>
  )
}

function ProgressText({
  progress,
  networkId,
}: {
  readonly progress: Progress
  readonly networkId: number
}): JSX.Element {
  return (
    <div role="status" class="progress-text">
      {progress.step === 'busy' ? <p class="muted">{progress.text}</p> : null}
      {progress.step === 'failed' ? <p class="wrong">{progress.text}</p> : null}
      {progress.step === 'sent' || progress.step === 'done' ? (
        <p>
          {progress.step === 'sent'
            ? `Sent, with a limit of ${grouped(progress.gas)} gas. It waits for a block. `
            : 'Claimed. This page shows it in a moment. '}
          <Hex value={progress.txHash} kind="transaction" networkId={networkId} />
        </p>
      ) : null}
    </div>
  )
}

async function claim(
  provider: Provider,
  asks: 'eth_requestAccounts' | 'eth_accounts',
  { originNetwork, depositCount, leafType }: Bridge,
  show: (progress: Progress) => void,
): Promise<void> {
  show({ step: 'busy', text: 'Asking for the claim call…' })
  const call = await api.getClaimTransaction({ networkId: originNetwork, depositCount })
  const isOfNode = asks === 'eth_accounts'
  show({ step: 'busy', text: `Asking the ${isOfNode ? 'node' : 'wallet'} for an account…` })
  const [from] = (await provider.request({ method: asks })) as readonly string[]
  if (from === undefined) throw new Error('The wallet gave no account. Is it locked?')
  await switchChain(provider, call, show)
  show({ step: 'busy', text: 'Trying the call without sending it…' })
  const transaction = { from, to: call.to, data: call.data, value: '0x0' }
  const gas = BigInt((await provider.request({ method: 'eth_estimateGas', params: [transaction] })) as string)
  const method = leafType === 0 ? 'claimAsset' : 'claimMessage'
  show({
    step: 'busy',
    text: `${shortHex(from)} calls ${method} of the bridge contract ${shortHex(call.to)}, with a limit of ${grouped(gas)} gas. ${isOfNode ? 'Sending…' : 'Confirm it in the wallet…'}`,
  })
  const txHash = (await provider.request({
    method: 'eth_sendTransaction',
    params: [{ ...transaction, gas: `0x${gas.toString(16)}` }],
  })) as string
  show({ step: 'sent', txHash, gas })
  for (;;) {
    const receipt = (await provider.request({ method: 'eth_getTransactionReceipt', params: [txHash] })) as {
      status: string
    } | null
    if (receipt !== null) {
      if (Number(receipt.status) === 0)
        throw new Error('The transaction is in a block, but the contract has refused it.')
      return show({ step: 'done', txHash })
    }
    await clientClock.sleep(LOOK_MS)
  }
}

async function switchChain(
  provider: Provider,
  { chainId }: ClaimTransactionResponse,
  show: (progress: Progress) => void,
): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    Number(await provider.request({ method: 'eth_chainId' })) === chainId
  if (await isThere()) return
  show({ step: 'busy', text: 'Asking the wallet to switch to the right network…' })
  await provider.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: `0x${chainId.toString(16)}` }],
  })
  if (!(await isThere())) throw new Error('The wallet is still on another network.')
}

function failureText(error: unknown, name: string): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (code === REFUSED_BY_USER) return 'You refused it in the wallet. Nothing was sent.'
  if (code === UNKNOWN_CHAIN)
    return `The wallet does not know ${name}. Add the network there, then try again.`
  const text = typeof message === 'string' ? message.replace(/^[A-Z_]+: /, '') : 'The wallet gave no reason.'
  if (/revert/i.test(text))
    return `The contract, or the receiver, would refuse it, so nothing was sent: ${text}`
  return text
}
