import { emptyShard } from '../../../src/shard/write/emptyShard.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import type { WriteView } from '../../../src/store/shardStore.types.js'

/**
 * Empties network 1's shard in a folder and kills itself, as `kill -9` would, before the n-th change of the
 * transaction, or after its commit when there are fewer changes.
 */
const [, , folder, changes] = process.argv
let left = Number(changes)
const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}
const counted = (view: WriteView): WriteView =>
  new Proxy(view, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      const isChange = name === 'clear' || name === 'put' || name === 'remove'
      return (...args: unknown[]): unknown => {
        if (isChange && left-- === 0) die()
        return Reflect.apply(method, target, args)
      }
    },
  })
const writer = openShardStoreWriter(shardDirectory(folder!, 1))
writer.transact((view) => emptyShard(counted(view), { count: 1, notBeforeMs: undefined }))
process.send!(Number(changes) - left, undefined, {}, die)
