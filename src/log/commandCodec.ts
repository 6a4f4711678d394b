import { haltReasons } from '../board/haltReason.js'
import type { BlockBatch, BlockEvent, IndexedBlock } from '../protocol/chainEvent.js'
import type { CorrectedSender, NotedSender, RowSender, TransactionLog } from '../shard/senders.types.js'
import type {
  ClaimableDeposit,
  ClaimableNews,
  ShardCommand,
  SnapshotVersion,
  StartOvers,
} from '../shard/shardCommand.types.js'
import type { LogSettings, ShardMark, TableStretch } from '../shard/shardLog.types.js'
import { type TableName, tables } from '../store/layout/tables.js'
import { readEvents, writeEvents } from './commandEvents.js'
import {
  type Additions,
  address,
  assertTransactionHash,
  blockNumber,
  boolean,
  bytes,
  type Field,
  type FieldsOf,
  hash,
  header,
  headPlace,
  lastOf,
  list,
  MOST_BLOCK,
  MOST_SENDER_CODE,
  milliseconds,
  oneOf,
  optional,
  optionalSince,
  orUndefined,
  readSender,
  record,
  sender,
  senderCode,
  since,
  uint8,
  uint32,
  uint48,
  uint53,
  uint256,
  writeSender,
} from './commandFields.js'
import { CommandFormatError } from './commandFormatError.js'
import { CommandReader } from './commandReader.js'
import { CommandWriter } from './commandWriter.js'
import { RowColumns, totalsOf, writeTotals } from './rowColumns.js'

/**
 * Version of everything in this room: commands and their messages. It rises with every change of what is written, new types of commands
 * and events, halt reasons and tables among them; `Additions` and `since` say what came with which version.
 *
 * A build writes its own version and reads all up to it. So instances of two builds may follow one log, and none of them may apply what
 * another one leaves out: their shards would differ, and no command would tell. What bytes say therefore depends on the bytes alone.
 * - A newer version, of a message or of a command: this build can't know. It applies nothing, and stands in front of it until it is upgraded.
 *   Upgrade those that follow first, and the one that leads last.
 * - An older version: read by the rules of that version, with the values that its builds took for granted. What they refused is refused.
 * - What no encoder of its version writes, or has not the hash that it was sent with: no command, for every build that knows the version,
 *   now and later. All leave it out. Only a defect or a foreign writer makes such; what a proposer left half done is none, and is left out by
 *   the parts that are missing.
 */
export const COMMAND_CODEC_VERSION = 3

type CommandOf<Type extends ShardCommand['type']> = Extract<ShardCommand, { type: Type }>
type Content<Type extends ShardCommand['type']> = Omit<CommandOf<Type>, 'type'>

const batchPosition = record<Omit<BlockBatch, 'blocks' | 'fromBlock' | 'head'>>({
  finalizedBlock: blockNumber,
  undoFloor: blockNumber,
  batchUndoFloor: optional(blockNumber),
  perTransactionFrom: optional(blockNumber),
})

/** Bytes that a block takes at least: its header, and the number of its events. */
const LEAST_BLOCK_BYTES = header.least + 1

const batch: Field<BlockBatch> = {
  least: 1,
  write(to, value) {
    const { fromBlock, head, blocks } = value
    blockNumber.write(to, fromBlock, 'fromBlock')
    to.memory.blockNumber = fromBlock
    header.write(to, head, 'head')
    batchPosition.write(to, value, 'batch')
    writeTotals(to, totalsOf(blocks))
    to.integer(blocks.length, Number.MAX_SAFE_INTEGER, 'blocks')
    for (const block of blocks) {
      header.write(to, block.header, 'header')
      writeEvents(to, block.events, block.header.number)
    }
  },
  read(from) {
    const fromBlock = blockNumber.read(from, 'fromBlock')
    from.memory.blockNumber = fromBlock
    const head = header.read(from, 'head')
    const position = batchPosition.read(from, 'batch')
    const rows = new RowColumns(from)
    const count = from.count(LEAST_BLOCK_BYTES, 'blocks')
    const blocks: IndexedBlock<BlockEvent>[] = []
    for (let index = 0; index < count; index++) {
      const own = header.read(from, 'header')
      blocks.push({ header: own, events: readEvents(from, own.number, rows) })
    }
    rows.end(from)
    return { fromBlock, head, ...position, blocks }
  },
}

/**
 * Four times the code of the sender, plus 1 for a claim, plus 2 when the log is of the same transaction as the one before; the distance
 * from the next row of the kind; the log: distance of its block, log index, transaction hash unless it is the same; addresses. Written by
 * hand: there is one for each event, and its row is mostly the next one.
 */
const rowSender: Field<RowSender> = {
  least: 4,
  write(to, { kind, ordinal, transactionHash, logIndex, blockNumber: block, sender: own }) {
    const { memory } = to
    const code = senderCode(own)
    const isClaim = kind === 'claim'
    const next = isClaim ? memory.claimOrdinal : memory.depositOrdinal
    assertTransactionHash(transactionHash)
    const isSame = to.isSameTransaction(transactionHash, 0)
    to.integer(4 * code + (isSame ? 2 : 0) + (isClaim ? 1 : 0), MOST_ROW_CODE, 'sender')
    if (ordinal >>> 0 !== ordinal) throw new RangeError(`ordinal ${ordinal} is not a uint32`)
    to.integer((ordinal - next) >>> 0, 0xffff_ffff, 'ordinal')
    if (isClaim) memory.claimOrdinal = ordinal + 1
    else memory.depositOrdinal = ordinal + 1
    if (!(block >= 0 && block <= MOST_BLOCK)) throw new RangeError(`blockNumber ${block} is out of range`)
    const distance = block - memory.blockNumber
    to.integer(distance < 0 ? distance + MOST_BLOCK + 1 : distance, MOST_BLOCK, 'blockNumber')
    memory.blockNumber = block
    to.integer(logIndex, 0xffff_ffff, 'logIndex')
    if (!isSame) to.transaction(transactionHash, 0)
    writeSender(to, own, code)
  },
  read(from) {
    const { memory } = from
    const code = from.integer(MOST_ROW_CODE, 'sender')
    const isClaim = (code & 1) === 1
    const next = isClaim ? memory.claimOrdinal : memory.depositOrdinal
    const ordinal = (next + from.integer(0xffff_ffff, 'ordinal')) >>> 0
    if (isClaim) memory.claimOrdinal = ordinal + 1
    else memory.depositOrdinal = ordinal + 1
    memory.blockNumber = (memory.blockNumber + from.integer(MOST_BLOCK, 'blockNumber')) % (MOST_BLOCK + 1)
    const logIndex = from.integer(0xffff_ffff, 'logIndex')
    // Any uint32 is an ordinal.
    return {
      kind: isClaim ? 'claim' : 'deposit',
      ordinal: ordinal as RowSender['ordinal'],
      transactionHash: from.transaction((code & 2) === 2, 'transactionHash'),
      logIndex,
      blockNumber: memory.blockNumber as RowSender['blockNumber'],
      sender: readSender(from, code >>> 2),
    }
  },
}

const MOST_ROW_CODE = 4 * MOST_SENDER_CODE + 3

const rowKind = oneOf(['deposit', 'claim'])

const transactionLog = record<TransactionLog>({
  logIndex: uint32(),
  kind: oneOf(['deposit', 'claim', 'claimSet', 'forwardLet']),
  leafType: optional(uint8),
  originAddress: optional(address),
  depositCount: optional(uint32()),
  globalIndex: optional(uint256),
  destinationNetwork: optional(uint32()),
  destinationAddress: optional(address),
  amount: optional(uint256),
})

const notedSender = record<NotedSender>({
  kind: rowKind,
  ordinal: uint32(),
  transactionHash: hash,
  logIndex: uint32(),
  blockNumber,
  transactionLogs: list(transactionLog),
  isUnknown: boolean,
})

/** What `feed.keep_events` is by default: who wrote version 1 had no feed, and logs of it have the usual one. */
const FEED_OF_VERSION_1 = 1_000_000
/** Builds that wrote version 1 had no other one for stores of a log. */
const SCHEMA_OF_VERSION_1 = 6

/** A version is a byte, so what comes with this one is in no command: halts of one instance, from `log_full` on. */
const IN_NO_VERSION = 0x100

/** LMDB takes no longer ones. */
const MOST_KEY_BYTES = 1_978

const startOvers = record<StartOvers>({ count: uint32(), notBeforeMs: orUndefined(milliseconds) })

/** Types of commands that came later. */
const laterTypes: Additions<ShardCommand['type']> = { 2: 'noteClaimable' }

/** The content of each type of command. Its number, which is part of the format, is its position here: new types are appended. */
const contents: { readonly [Type in ShardCommand['type']]: FieldsOf<Content<Type>> } = {
  applyBlocks: { batch },
  revertTo: { ancestor: blockNumber, reorgSeenAtSec: optionalSince(3, uint48) },
  startOver: { startOvers },
  noteStartOvers: { startOvers },
  noteCatchingUp: { isCatchingUp: boolean },
  noteClaimsCompared: {
    compared: list(record({ sourceNetwork: uint32(), deposits: uint32() })),
    isWhole: boolean,
  },
  setFinalized: { block: blockNumber },
  resolveSenders: { resolved: list(rowSender) },
  correctSenders: { corrected: list(record<CorrectedSender>({ row: notedSender, sender })) },
  addPolledGers: { globalExitRoots: list(hash), polledLeaves: uint32() },
  addSettledRoots: { found: list(record({ root: hash, lineage: uint32(), leafCount: uint32() })) },
  begin: {
    settings: record<LogSettings>({
      logId: bytes(16, 16),
      networkId: uint32(),
      chainId: uint53,
      bridge: address,
      globalExitRootManager: address,
      rollupManager: orUndefined(address),
      startBlock: blockNumber,
      rollbackBlocks: uint32(),
      finalityTag: oneOf(['latest', 'safe', 'finalized']),
      finalityDepth: uint32(),
      gerInjection: oneOf(['auto', 'event', 'poll']),
      feedKeepEvents: since(2, uint32(), FEED_OF_VERSION_1),
    }),
  },
  mark: {
    mark: record<ShardMark>({
      localExitRoot: hash,
      deposits: uint32(),
      claims: uint32(),
      l1InfoLeaves: uint32(),
      stretch: record<TableStretch>({
        table: oneOf(Object.keys(tables) as TableName[], { 2: 'feed', 3: 'eventPlaces' }),
        from: bytes(1, MOST_KEY_BYTES),
        entries: uint32(),
      }),
      digest: hash,
      schema: since(2, uint32(), SCHEMA_OF_VERSION_1),
    }),
  },
  noteHalt: { reason: oneOf(haltReasons, { 2: 'newer_command', [IN_NO_VERSION]: 'log_full' }) },
  noteHeadPlace: { place: headPlace },
  noteClaimable: {
    news: record<ClaimableNews>({
      madeFrom: list(record<SnapshotVersion>({ networkId: uint32(), commits: uint53, epoch: uint32() })),
      stage: oneOf(['history', 'historyEnd', 'news']),
      unclaimable: list(record({ sourceNetwork: uint32(), depositCount: uint32() })),
      claimable: list(
        record<ClaimableDeposit>({
          sourceNetwork: uint32(),
          depositCount: uint32(),
          transactionHash: hash,
          destinationAddress: address,
          leafType: uint8,
          l1InfoTreeIndex: uint32(),
        }),
      ),
    }),
  },
}

interface CommandLayout {
  readonly type: ShardCommand['type']
  readonly number: number
  readonly content: Field<object>
}

const layouts = Object.entries(contents).map(
  ([type, fields], number): CommandLayout => ({
    // Object.entries forgets that the keys are types of commands, and which fields belong to which.
    type: type as ShardCommand['type'],
    number,
    content: record<object>(fields as FieldsOf<object>),
  }),
)
const layoutOf = new Map(layouts.map((layout) => [layout.type, layout]))
const types = layouts.map(({ type }) => type)

/**
 * Writes a command down: version, number of its type, content. The same command gives the same bytes, in every process. Events that are
 * rows are read where they lie; nothing of the command is kept.
 * @returns fresh memory, the caller owns it.
 * @throws RangeError when a value is not of its type, or all rows together would take more than 512 MiB in columns: then fewer blocks
 *   have to be proposed at once.
 */
export function encodeCommand(command: ShardCommand): Uint8Array {
  const to = new CommandWriter(expectedBytes(command))
  const { number, content } = layoutOf.get(command.type)!
  to.integer(COMMAND_CODEC_VERSION, 0xff, 'version')
  to.integer(number, 0xff, 'type of the command')
  content.write(to, command, command.type)
  return to.written()
}

/**
 * Reads a command that `encodeCommand` of this build or an older one wrote, and nothing else: what it accepts, the newest build of that
 * version would write with the same bytes. No length or count
 * is believed before the bytes are there that it speaks of, so what is allocated stays in proportion to `bytes`: at most some 200 times
 * as much, by metadata that many rows share.
 * @returns a command that owns all its memory: `bytes` may be written to afterwards.
 * @throws CommandFormatError
 */
export function decodeCommand(bytes: Uint8Array): ShardCommand {
  const version = readVersion(bytes[0], 'version of the command')
  const from = new CommandReader(bytes, version)
  from.integer(0xff, 'version of the command')
  const { type, content } = layouts[from.integer(lastOf(types, laterTypes, version), 'type of the command')]!
  const read = content.read(from, type)
  from.end()
  // The table of contents pairs each type with what belongs to it.
  return { type, ...read } as ShardCommand
}

/** @param version the first byte of a command or of a message. @throws CommandFormatError unless this build can read it. */
export function readVersion(version: number | undefined, field: string): number {
  if (version !== undefined && version > COMMAND_CODEC_VERSION)
    throw new CommandFormatError(
      'newer_version',
      0,
      field,
      `${version} is newer than ${COMMAND_CODEC_VERSION}, the newest that this build reads: upgrade this instance`,
    )
  if (version === undefined || version === 0)
    throw new CommandFormatError('malformed', 0, field, `${version ?? 'nothing'} is no version`)
  return version
}

/** About how long the command will be. A wrong guess costs time, no more. */
function expectedBytes(command: ShardCommand): number {
  if (command.type === 'resolveSenders') return 64 + 60 * command.resolved.length
  if (command.type !== 'applyBlocks') return 256
  const { blocks } = command.batch
  return 256 + 64 * blocks.length + 80 * totalsOf(blocks).rows
}
