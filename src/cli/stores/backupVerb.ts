import { join } from 'node:path'
import type { Config } from '../../config/config.types.js'
import { COMMAND_CODEC_VERSION } from '../../log/commandCodec.js'
import { exitCodes } from '../../service/exitCodes.js'
import { openFolderSink, openTarSink } from '../../snapshot/chunkStore.js'
import {
  encodeManifest,
  inCopyOrder,
  MANIFEST_NAME,
  type Manifest,
  type ShardSnapshot,
  SNAPSHOT_FORMAT,
} from '../../snapshot/manifest.js'
import { writeShardSnapshot } from '../../snapshot/shardSnapshot.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { buildInfo } from '../../telemetry/buildInfo.js'
import { unixMs } from '../../telemetry/clocks.js'
import { publicJson, publicLines } from '../../telemetry/visibleText.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'
import { otherFlagsHelp } from '../input/arguments.js'
import type { ProgressLine } from '../input/progressBar.js'
import { readNumber } from '../input/readNumber.js'
import { UsageError, type Verb } from '../input/verb.js'
import { inLockedFolder, readStoreArguments } from './storeVerb.js'

const DEFAULT_COPY_S = 600
const MOST_COPY_S = 86_400

/** `bds backup`: copies every network's store, beside a running service too. */
export const backup: Verb = {
  help: [
    'Usage: bds backup --config FILE --to DIR|FILE.tar [--copy-timeout S] [--json] [flags]',
    '',
    'Copies the stores of all configured networks, also while a service uses them: each network in one state, network 0 last. The copy is',
    'compressed in pieces, each with its SHA-256. `bds restore` makes stores of it again.',
    'Needs free space for the largest store beside the backup, where the backup goes.',
    '',
    '  --to PATH         a new or empty folder, or a new file that ends in .tar; an older backup is never overwritten',
    `  --copy-timeout S  longest time to copy one network, ${DEFAULT_COPY_S} by default: meanwhile its store can't reuse space and may grow`,
    '  --json            one JSON document instead of lines',
    ...otherFlagsHelp,
  ].join('\n'),
  async run(args) {
    const text = { type: 'string' } as const
    const { values, config, isJson } = readStoreArguments(args, { to: text, 'copy-timeout': text })
    const { to } = values
    if (to === undefined) throw new UsageError('--to is missing')
    const copyTimeoutMs = 1000 * readNumber(values, 'copy-timeout', DEFAULT_COPY_S, MOST_COPY_S)
    const manifest = await inLockedFolder(config, 'read', (progress) =>
      writeBackup({ config, to, copyTimeoutMs, progress }),
    )
    if (isJson) console.log(publicJson({ to, ...summaryOf(manifest) }))
    else console.log(publicLines([...manifest.networks.map(tell), `backup is complete: ${to}`].join('\n')))
    return exitCodes.ok
  },
}

interface Options {
  readonly config: Config
  readonly to: string
  readonly copyTimeoutMs: number
  readonly progress: ProgressLine
}

/** Leaves nothing behind when it fails. */
async function writeBackup({ config, to, copyTimeoutMs, progress }: Options): Promise<Manifest> {
  const hasher = createHasher(compileMerkleModule())
  const made: ShardSnapshot[] = []
  const sink = to.endsWith('.tar') ? await openTarSink(to) : await openFolderSink(to)
  try {
    for (const { networkId } of inCopyOrder(config.networks)) {
      const onProgress = (share: number, what: string) =>
        progress.show((made.length + share) / config.networks.length, `network ${networkId}: ${what}`)
      const directory = shardDirectory(config.dataDir, networkId)
      const workFolder = to.endsWith('.tar') ? `${to}.copy` : join(to, 'copy')
      made.push(
        await writeShardSnapshot({
          ...{ networkId, directory, workFolder, sink, hasher },
          ...{ copyTimeoutMs, onProgress },
        }),
      )
    }
    const manifest: Manifest = {
      format: SNAPSHOT_FORMAT,
      made_at: new Date(unixMs()).toISOString(),
      build: buildInfo.version,
      command_version: COMMAND_CODEC_VERSION,
      networks: made,
    }
    await sink.finish(MANIFEST_NAME, encodeManifest(manifest))
    return manifest
  } catch (error) {
    await sink.discard()
    throw error
  }
}

function storedBytes({ chunks }: ShardSnapshot): number {
  return chunks.reduce((sum, { stored_bytes }) => sum + stored_bytes, 0)
}

/** A manifest without its pieces. */
function summaryOf({ networks, ...manifest }: Manifest): object {
  return {
    ...manifest,
    networks: networks.map((snapshot) => {
      const { chunks, ...facts } = snapshot
      return { ...facts, chunks: chunks.length, stored_bytes: storedBytes(snapshot) }
    }),
  }
}

function tell(snapshot: ShardSnapshot): string {
  const { network_id, block, deposits, claims, bytes } = snapshot
  const mib = (count: number) => `${(count / 2 ** 20).toFixed(1)} MiB`
  const place = block === null ? 'nothing indexed yet' : `block ${block.number}`
  return `network ${network_id}: ${place}, ${deposits} deposits, ${claims} claims; ${mib(bytes)}, ${mib(storedBytes(snapshot))} compressed`
}
