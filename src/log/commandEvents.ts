import type {
  BlockEvent,
  ChainEvent,
  EventPosition,
  EventRows,
  ForwardLeaf,
  GlobalExitRootInjectedEvent,
  L1InfoLeafEvent,
} from '../protocol/chainEvent.js'
import type { BlockNumber } from '../protocol/units.js'
import {
  type Additions,
  address,
  assertTransactionHash,
  boolean,
  type Field,
  type FieldsOf,
  hash,
  lastOf,
  list,
  metadata,
  nullableSender,
  oneOf,
  optionalSince,
  record,
  rollupId,
  uint8,
  uint32,
  uint53,
  uint64,
  uint256,
} from './commandFields.js'
import type { CommandReader } from './commandReader.js'
import type { CommandWriter } from './commandWriter.js'
import { type RowColumns, writeRows } from './rowColumns.js'

type EventOf<Type extends ChainEvent['type']> = Extract<ChainEvent, { type: Type }>
/** What an event says beside its type and its place. */
type Content<Type extends ChainEvent['type']> = Omit<EventOf<Type>, 'type' | keyof EventPosition>

const leaf: FieldsOf<ForwardLeaf> = {
  leafType: uint8,
  destinationNetwork: uint32(),
  destinationAddress: address,
  amount: uint256,
  originNetwork: uint32(),
  originAddress: address,
  metadata,
}
const exitRoots: FieldsOf<Content<L1InfoLeafEvent['type']>> = { mainnetExitRoot: hash, rollupExitRoot: hash }
const globalExitRoot: FieldsOf<Content<GlobalExitRootInjectedEvent['type']>> = { globalExitRoot: hash }
const cut: FieldsOf<Content<'backwardLet'>> = {
  previousLeafCount: uint32(),
  previousRoot: hash,
  newLeafCount: uint32(),
  newRoot: hash,
}

/** The content of each type of event. Its number, which is part of the format, is its position here: new types are appended. */
const contents: { readonly [Type in ChainEvent['type']]: FieldsOf<Content<Type>> } = {
  deposit: { depositCount: uint32(), ...leaf, sender: nullableSender },
  claim: {
    generation: oneOf(['v1', 'v2']),
    globalIndex: uint256,
    destinationAddress: address,
    amount: uint256,
    originNetwork: uint32(),
    originAddress: address,
    sender: nullableSender,
  },
  claimUnset: { sourceNetwork: uint32(), depositCount: uint32(), hashChain: optionalSince(3, hash) },
  claimSet: { sourceNetwork: uint32(), depositCount: uint32(), sender: nullableSender },
  wrappedToken: {
    wrappedTokenAddress: address,
    originNetwork: uint32(),
    originTokenAddress: address,
    metadata,
  },
  sovereignToken: {
    sovereignTokenAddress: address,
    originNetwork: uint32(),
    originTokenAddress: address,
    isNotMintable: boolean,
  },
  legacyTokenRemoved: { sovereignTokenAddress: address },
  l1InfoLeaf: exitRoots,
  l1InfoRoot: { l1InfoRoot: hash, leafCount: uint32(), previousBlockHash: hash, timestampSec: uint53 },
  l1InfoRootMapInit: { l1InfoRoot: hash, leafCount: uint32() },
  v1GlobalExitRoot: exitRoots,
  rollupAdded: { networkId: rollupId, chainId: uint64, rollupAddress: address, initialLocalExitRoot: hash },
  rollupSettled: { networkId: rollupId, localExitRoot: hash, certainty: oneOf(['applied', 'pending']) },
  gerInjected: globalExitRoot,
  gerRemoved: globalExitRoot,
  backwardLet: cut,
  forwardLet: { ...cut, newLeaves: list(record(leaf)), sender: nullableSender },
  emergencyState: { active: boolean },
  tokenMigrated: {
    account: address,
    legacyTokenAddress: address,
    updatedTokenAddress: address,
    amount: uint256,
  },
}

/** Types of events that came later. */
const laterTypes: Additions<ChainEvent['type']> = { 3: 'tokenMigrated' }

const rowTypes: readonly EventRows['type'][] = ['depositRows', 'claimRows']

interface EventLayout {
  readonly type: ChainEvent['type']
  readonly number: number
  readonly content: Field<object>
}

const layouts = Object.entries(contents).map(
  ([type, fields], index): EventLayout => ({
    // Object.entries forgets that the keys are types of events, and which fields belong to which.
    type: type as ChainEvent['type'],
    number: rowTypes.length + index,
    content: record<object>(fields as FieldsOf<object>),
  }),
)
const layoutOf = new Map<string, EventLayout>(layouts.map((layout) => [layout.type, layout]))
const types = layouts.map(({ type }) => type)

/** Bytes that an entry of a block's list of events takes at least. */
const LEAST_EVENT_BYTES = 2

/** @param blockNumber of the block: events say it once more. @throws RangeError when one says another. */
export function writeEvents(
  to: CommandWriter,
  events: readonly BlockEvent[],
  blockNumber: BlockNumber,
): void {
  to.integer(events.length, Number.MAX_SAFE_INTEGER, 'events')
  for (const event of events)
    if (event.type === 'depositRows' || event.type === 'claimRows') {
      to.integer(2 * rowTypes.indexOf(event.type), 2 * rowTypes.length, 'type of an event')
      writeRows(to, event, blockNumber)
    } else writeEvent(to, event, blockNumber)
}

/** Twice its number plus whether its transaction is that of the event before, log index, transaction hash unless it is, content. */
function writeEvent(to: CommandWriter, event: ChainEvent, blockNumber: BlockNumber): void {
  const { number, content } = layoutOf.get(event.type)!
  const { transactionHash, logIndex } = event
  if (event.blockNumber !== blockNumber)
    throw new RangeError(`an event of block ${event.blockNumber} is in block ${blockNumber}`)
  assertTransactionHash(transactionHash)
  const isSame = to.isSameTransaction(transactionHash, 0)
  to.integer(2 * number + (isSame ? 1 : 0), Number.MAX_SAFE_INTEGER, 'type of an event')
  to.integer(logIndex, 0xffff_ffff, 'logIndex')
  if (!isSame) to.transaction(transactionHash, 0)
  content.write(to, event, event.type)
}

/** @param rows takes rows of the command. */
export function readEvents(from: CommandReader, blockNumber: BlockNumber, rows: RowColumns): BlockEvent[] {
  const count = from.count(LEAST_EVENT_BYTES, 'events')
  const events: BlockEvent[] = []
  const mostCode = 2 * (rowTypes.length + lastOf(types, laterTypes, from.version)) + 1
  for (let index = 0; index < count; index++) {
    const { at } = from
    const code = from.integer(mostCode, 'type of an event')
    const number = code >>> 1
    const isSame = (code & 1) === 1
    const rowType = rowTypes[number]
    if (rowType === undefined)
      events.push(readEvent(from, layouts[number - rowTypes.length]!, isSame, blockNumber))
    else if (isSame) from.fail('type of an event', 'rows say themselves in which transaction they are', at)
    else events.push(rows.read(from, rowType, blockNumber))
  }
  return events
}

function readEvent(
  from: CommandReader,
  { type, content }: EventLayout,
  isSame: boolean,
  blockNumber: BlockNumber,
): ChainEvent {
  const logIndex = from.integer(0xffff_ffff, 'logIndex')
  const transactionHash = from.transaction(isSame, 'transactionHash')
  // The table of contents pairs each type with what belongs to it.
  return { type, blockNumber, logIndex, transactionHash, ...content.read(from, type) } as ChainEvent
}
