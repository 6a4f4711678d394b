import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainBlocks } from '../../../src/events/rowsOfLogs.js'
import { decodeCommand, encodeCommand } from '../../../src/log/commandCodec.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import { CommandProposer } from '../../support/commandProposer.js'
import { packedBlocks } from '../../support/packedBlocks.js'
import { tempFolder } from '../../support/tempFolder.js'
import { digestTables, openTestShard } from '../../support/testShard.js'

const SEEDS = [1, 2]
const COMMANDS = 60

/** Deposits and claims as rows, where no sender is known, as in backfill. */
function asBackfilled(command: ShardCommand): ShardCommand {
  if (command.type !== 'applyBlocks') return command
  const blocks = plainBlocks(command.batch.blocks)
  const isOpen = blocks.every(({ events }) =>
    events.every((event) => !('sender' in event) || event.sender === null),
  )
  return isOpen ? { ...command, batch: { ...command.batch, blocks: packedBlocks(blocks) } } : command
}

test('a shard that is given commands as they were read holds the same bytes as one that is given them as they were made', async (context) => {
  const outcomes = new Set<string>()
  for (const seed of SEEDS) {
    const [made, read] = [openTestShard(tempFolder(context), 1), openTestShard(tempFolder(context), 1)]
    const proposer = new CommandProposer(made, seed)
    for (let count = 0; count < COMMANDS; count++) {
      const command = asBackfilled(proposer.next())
      const name = `seed ${seed}, command ${count}: ${command.type}`
      const decoded = decodeCommand(encodeCommand(command))
      const outcome = made.writer.apply(command)
      assert.deepEqual(read.writer.apply(decoded), outcome, name)
      assert.equal(read.read(digestTables), made.read(digestTables), name)
      const hasRows =
        command.type === 'applyBlocks' &&
        command.batch.blocks.some(({ events }) => events.some(({ type }) => type.endsWith('Rows')))
      outcomes.add(`${outcome.type} ${command.type}${hasRows ? ' with rows' : ''}`)
    }
    await made.close()
    await read.close()
  }
  const every = [
    ...['addPolledGers', 'addSettledRoots', 'applyBlocks', 'applyBlocks with rows', 'correctSenders'],
    ...['noteCatchingUp', 'noteClaimsCompared', 'noteStartOvers', 'resolveSenders', 'revertTo'],
    ...['setFinalized', 'startOver'],
  ].map((type) => `applied ${type}`)
  assert.deepEqual(
    [...every, 'refused applyBlocks with rows', 'refused revertTo'].filter((name) => !outcomes.has(name)),
    [],
  )
})
