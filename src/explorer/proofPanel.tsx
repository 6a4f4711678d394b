import type { JSX } from 'preact'
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

/** What a contract says of the root that was reached. */
interface Said {
  readonly isAgreed: boolean
  /** Who passed the question on. */
  readonly by: string
}

/** Undefined: there was nobody to ask. */
interface ChainVerdict {
  /** Whether the destination knows the root. */
  readonly known: Said | undefined
  /** Whether layer 1 has recorded it behind the block that the proof names. */
  readonly recorded: Said | undefined
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
  const ask = async (networkId: number, isAgreed: (word: string) => boolean): Promise<Said | undefined> => {
    const network = networks.find((network) => network.networkId === networkId)
    const answer = network === undefined ? undefined : await askExitRoot(network, folded.globalExitRoot.made)
    return answer === undefined ? undefined : { isAgreed: isAgreed(answer.word), by: answer.by }
  }
  const { previousBlockHash } = proof.l1InfoTreeLeaf
  const [known, recorded] = await Promise.all([
    ask(destinationNetwork, (word) => !UNKNOWN.test(word)),
    ask(0, (word) => word === previousBlockHash.toLowerCase()),
  ])
  return { step: 'done', proof, folded, chain: { known, recorded } }
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
          A claim carries a proof that this bridge was sent. Your browser can check that proof without trust
          in this service: it calculates it anew, then asks the contract on{' '}
          {networkName(bridge.destinationNetwork)} whether it knows the result.
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
  const { known, recorded } = chain
  const isWrong = !folded.isRight || known?.isAgreed === false || recorded?.isAgreed === false
  const sentence = !folded.isRight
    ? 'Calculated in your browser, the proof does not lead to the root that this service names. Do not rely on it.'
    : known?.isAgreed === false
      ? `The calculation is right, but the contract on ${name} does not know its result: asked through ${known.by}, just now. It would refuse this proof.`
      : recorded?.isAgreed === false
        ? `The calculation is right, but the contract on ${networkName(0)} has not recorded its result as this service says: asked through ${recorded.by}, just now.`
        : known !== undefined
          ? `This bridge was sent: your browser calculated the proof from the bridge to its result, and the contract on ${name} knows that result, asked through ${known.by}, just now. It would accept this proof.`
          : `Your browser calculated the proof from the bridge to its result, and all agrees with what this service says. Whether ${name} knows that result was not asked: no wallet in this browser is on ${name}, and this page has no public endpoint of it that answers.`
  return (
    <>
      <p class="sentence verdict">
        <Chip
          {...(isWrong
            ? { tone: 'bad', word: 'Wrong' }
            : known !== undefined
              ? { tone: 'good', word: 'Proven' }
              : { tone: 'quiet', word: 'Calculated only' })}
        />
        <span>{sentence}</span>
      </p>
      <Steps trees={folded.trees} />
      <h3>Compared with the chain</h3>
      <dl class="facts">
        <ChainFact name={`Known on ${name}`} said={known} />
        <ChainFact name={`Recorded on ${networkName(0)}`} said={recorded} />
      </dl>
      <h3>Calculated in your browser</h3>
      <dl class="facts">
        <Calculated name="This bridge" {...folded.leaf} />
        {folded.trees.map((tree) => (
          <Calculated key={tree.title} name={tree.rootName} made={tree.root} expected={tree.expected} />
        ))}
        <Calculated name="From all networks: the result" {...folded.globalExitRoot} />
        <Calculated name={`Its record on ${networkName(0)}`} {...folded.l1InfoLeaf} />
      </dl>
      {folded.trees.map((tree) => (
        <Siblings key={tree.title} tree={tree} />
      ))}
      <p class="muted note-line">
        Each of these hashes contains the one above it, so a contract that knows the result vouches for all of
        them. The tree of all records on {networkName(0)} is not checked: a claim does not need it.
      </p>
    </>
  )
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

/** What a contract was asked, what it said, and through whom. */
function ChainFact({ name, said }: { readonly name: string; readonly said: Said | undefined }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="actions">
        {said === undefined ? (
          <Chip tone="quiet" word="Not compared: nobody to ask" />
        ) : (
          <>
            <Chip {...(said.isAgreed ? { tone: 'good', word: 'Yes' } : { tone: 'bad', word: 'No' })} />
            <span class="muted">asked through {said.by}</span>
          </>
        )}
      </dd>
    </div>
  )
}

function Calculated({
  name,
  made,
  expected,
}: {
  readonly name: string
  readonly made: string
  /** What the service says. */
  readonly expected: string
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="actions">
        <Mono value={made} what="hash" />
        {made === expected ? null : <Chip tone="bad" word="This service says otherwise" />}
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
