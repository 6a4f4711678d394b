import type { ComponentProps, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Bridge, ClaimProof } from '../client/bridgeClient.js'
import { createWasmHasher, type MerkleExports } from '../wasm/wasmHasher.js'
import { askExitRoot } from './chainCalls.js'
import { claimCall } from './claimCall.js'
import { type FoldedProof, type FoldedTree, foldProof } from './foldProof.js'
import { api, networkName, settings } from './pageSettings.js'
import { Chip, CopyButton, Mono } from './pieces.js'

/** Checks the proof of a bridge in the browser, with the service's own WebAssembly, and tells what that proves. */

type Check =
  | { readonly step: 'idle' }
  | { readonly step: 'busy' }
  | { readonly step: 'failed'; readonly why: string }
  | {
      readonly step: 'done'
      readonly proof: ClaimProof
      readonly folded: FoldedProof
      readonly chain: ChainVerdict
    }

const STEP_MS = 12

/** What the contracts say of the root that was reached. Undefined: there was nobody to ask. */
interface ChainVerdict {
  /** Whether the destination knows it. */
  readonly isKnown: boolean | undefined
  /** Whether layer 1 has recorded it behind the block that the proof names. */
  readonly isRecorded: boolean | undefined
}

const UNKNOWN = /^0x0*$/

async function check(bridge: Bridge): Promise<Check> {
  const { originNetwork, depositCount, destinationNetwork } = bridge
  const { l1InfoTreeIndex } = await api.getL1InfoTreeIndex({ networkId: originNetwork, depositCount })
  const [{ proof }, { instance }, { networks }] = await Promise.all([
    api.getClaimProof({ networkId: originNetwork, depositCount, leafIndex: l1InfoTreeIndex }),
    WebAssembly.instantiateStreaming(fetch(new URL(settings.wasmFile, import.meta.url))),
    api.getNetworks(),
  ])
  const hasher = createWasmHasher('browser', instance.exports as unknown as MerkleExports)
  const folded = foldProof(bridge, proof, hasher)
  const ask = async (
    networkId: number,
    isAgreed: (word: string) => boolean,
  ): Promise<boolean | undefined> => {
    const network = networks.find((network) => network.networkId === networkId)
    const word = network === undefined ? undefined : await askExitRoot(network, folded.globalExitRoot.made)
    return word === undefined ? undefined : isAgreed(word)
  }
  const { previousBlockHash } = proof.l1InfoTreeLeaf
  const [isKnown, isRecorded] = await Promise.all([
    ask(destinationNetwork, (word) => !UNKNOWN.test(word)),
    ask(0, (word) => word === previousBlockHash.toLowerCase()),
  ])
  return { step: 'done', proof, folded, chain: { isKnown, isRecorded } }
}

export function ProofPanel({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const [state, setState] = useState<Check>({ step: 'idle' })
  const start = (): void => {
    setState({ step: 'busy' })
    check(bridge).then(setState, (error: unknown) =>
      setState({
        step: 'failed',
        why: error instanceof Error ? error.message.replace(/^[A-Z_]+: /, '') : String(error),
      }),
    )
  }
  return (
    <section aria-labelledby="proof" class="panel">
      <h2 id="proof">Proof</h2>
      {state.step === 'done' ? (
        <Verdict {...state} bridge={bridge} />
      ) : (
        <p class="muted">
          A claim carries a proof that this bridge was sent. Your browser can check it by itself: it hashes
          the bridge up to the root that {networkName(bridge.destinationNetwork)} accepts.
        </p>
      )}
      {state.step === 'failed' ? (
        <p class="wrong" role="alert">
          {state.why}
        </p>
      ) : null}
      <p class="actions">
        <button type="button" disabled={state.step === 'busy'} onClick={start}>
          {state.step === 'busy' ? 'Checking…' : state.step === 'done' ? 'Check again' : 'Check the proof'}
        </button>
        {state.step === 'done' ? <Downloads {...state} bridge={bridge} /> : null}
      </p>
    </section>
  )
}

function Verdict({
  folded,
  chain,
  bridge,
}: {
  readonly folded: FoldedProof
  readonly chain: ChainVerdict
  readonly bridge: Bridge
}): JSX.Element {
  const name = networkName(bridge.destinationNetwork)
  const { isKnown, isRecorded } = chain
  const isWrong = !folded.isRight || isKnown === false || isRecorded === false
  const sentence = !folded.isRight
    ? 'The proof does not lead to the root that the service names. Do not rely on it.'
    : isKnown === false
      ? `The proof is right in itself, but the contract on ${name} does not know its root.`
      : isRecorded === false
        ? `The proof is right in itself, but ${networkName(0)} has not recorded its root as the service says.`
        : isKnown === true
          ? `This bridge is under a root that the contract on ${name} knows, checked just now.`
          : `The proof is right in itself: this bridge is under the root below. It was not compared with the chain, as no wallet is on ${name}, and no public endpoint of it is configured or answers.`
  return (
    <>
      <p class="sentence verdict">
        <Chip
          {...(isWrong
            ? { tone: 'bad', word: 'Wrong' }
            : isKnown === true
              ? { tone: 'good', word: 'Verified' }
              : { tone: 'quiet', word: 'Right in itself' })}
        />
        <span>{sentence}</span>
      </p>
      <Steps trees={folded.trees} />
      <dl class="facts">
        <Compared name="This bridge" {...folded.leaf} />
        {folded.trees.map((tree) => (
          <Compared key={tree.title} name={tree.rootName} made={tree.root} expected={tree.expected} />
        ))}
        <Compared name="Root of all" {...folded.globalExitRoot}>
          <Chip {...saidBy(isKnown, `Known on ${name}`, `Unknown on ${name}`)} />
        </Compared>
        <Compared name="Layer 1 record" {...folded.l1InfoLeaf}>
          <Chip {...saidBy(isRecorded, `Same on ${networkName(0)}`, `Other on ${networkName(0)}`)} />
        </Compared>
      </dl>
      {folded.trees.map((tree) => (
        <Siblings key={tree.title} tree={tree} />
      ))}
      <p class="muted note-line">
        Each root is hashed into the next one, so a contract that knows the root of all knows them all. The
        root over all layer 1 records is not reached: a claim does not need it, and the service does not give
        the hashes up to it.
      </p>
    </>
  )
}

function saidBy(answer: boolean | undefined, yes: string, no: string): ComponentProps<typeof Chip> {
  if (answer === undefined) return { tone: 'quiet', word: 'Not compared with the chain' }
  return answer ? { tone: 'good', word: yes } : { tone: 'bad', word: no }
}

/** One mark for each hash on the way up. They fill one after another, and at once where motion is not wanted. */
function Steps({ trees }: { readonly trees: readonly FoldedTree[] }): JSX.Element {
  return (
    <div class="steps" aria-hidden="true">
      {trees.map(({ title, steps, root, expected }, at) => (
        <p key={title} class={root === expected ? undefined : 'bad'} title={title}>
          {steps.map(({ result }, level) => (
            <span key={result} style={{ animationDelay: `${(at * steps.length + level) * STEP_MS}ms` }} />
          ))}
        </p>
      ))}
    </div>
  )
}

function Compared({
  name,
  made,
  expected,
  children,
}: {
  readonly name: string
  readonly made: string
  readonly expected: string
  /** What the chain says. */
  readonly children?: JSX.Element
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="actions">
        <Mono value={made} what="hash" />
        {made === expected ? children : <Chip tone="bad" word="differs" />}
      </dd>
    </div>
  )
}

function Siblings({ tree }: { readonly tree: FoldedTree }): JSX.Element {
  return (
    <details class="siblings">
      <summary>
        {tree.title}: {tree.steps.length} hashes
      </summary>
      <ol>
        {tree.steps.map(({ left, right, result }, level) => (
          <li key={result}>
            <span class="muted">{level + 1}</span>
            <span>
              <span class="mono">{left}</span>
              <span class="mono">{right}</span>
              <span class="mono strong">{result}</span>
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}

/** Nobody is to claim with a proof that is wrong: then there is no call. */
function Downloads({
  proof,
  folded,
  bridge,
}: {
  readonly proof: ClaimProof
  readonly folded: FoldedProof
  readonly bridge: Bridge
}): JSX.Element {
  const text = JSON.stringify(
    proof,
    (_, value) => (typeof value === 'bigint' ? `0x${value.toString(16).padStart(64, '0')}` : value),
    2,
  )
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `proof-${bridge.originNetwork}-${bridge.depositCount}.json`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <>
      <button type="button" onClick={save}>
        Save as JSON
      </button>
      <CopyButton text={text} what="proof" label="Copy as JSON" />
      {folded.isRight ? (
        <CopyButton
          text={claimCall(bridge, proof)}
          what="claim call with this proof"
          label="Copy as calldata"
        />
      ) : null}
    </>
  )
}
