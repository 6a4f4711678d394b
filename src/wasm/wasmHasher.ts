import { HASH_BYTES, TREE_DEPTH } from '../merkle/branch.js'
import { EDGE_BYTES } from '../merkle/edgeCache.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { TILE_BYTES } from '../merkle/treeTiles.js'

interface Place {
  readonly value: number
}

/** Exports of assembly/index.ts: addresses of fixed buffers, and kernels on them. */
export interface MerkleExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly INPUT: Place
  readonly DIGEST: Place
  readonly DIGEST_B: Place
  readonly TILE: Place
  readonly PATH_A: Place
  readonly PATH_B: Place
  readonly BRANCH_A: Place
  readonly EDGE: Place
  readonly TEXT: Place
  startMessage(): void
  absorbInput(length: number): void
  digest(): void
  hashMessages(count: number, length: number): void
  hashInputPairs(count: number): void
  completeTile(from: number, to: number): void
  foldBranch(index: number): void
  formatNodes(count: number): number
  computeRoot(leafCount: number): void
  rootPair(leafCountA: number, leafCountB: number): void
  prove(index: number, leafCount: number): void
  proveAtEdge(index: number, leafCount: number): void
  proveInTiles(index: number): void
}

/** Size of `INPUT` in assembly/layout.ts. */
const INPUT_BYTES = 65_536
const GROUPS = 6
/** Nodes whose text fits `TEXT` in assembly/layout.ts, 69 characters each. */
const TEXT_NODES = 64
const NODE_TEXT_BYTES = 69

/**
 * Glue between the kernels and the rest: copies in, runs, copies out. Memory is fixed (it never grows), so the views
 * made here stay valid.
 */
export function createWasmHasher(name: string, wasm: MerkleExports): TreeHasher {
  const view = (place: Place, bytes: number) => new Uint8Array(wasm.memory.buffer, place.value, bytes)
  const tiles = (place: Place) =>
    Array.from(
      { length: GROUPS },
      (_, group) => new Uint8Array(wasm.memory.buffer, place.value + TILE_BYTES * group, TILE_BYTES),
    )
  const input = view(wasm.INPUT, INPUT_BYTES)
  const digest = view(wasm.DIGEST, HASH_BYTES)
  const text = view(wasm.TEXT, NODE_TEXT_BYTES * TEXT_NODES)
  const branch = view(wasm.BRANCH_A, HASH_BYTES * TREE_DEPTH)

  return {
    name,

    hash(bytes) {
      wasm.startMessage()
      for (let at = 0; at < bytes.length; at += INPUT_BYTES) {
        const piece = bytes.subarray(at, at + INPUT_BYTES)
        input.set(piece)
        wasm.absorbInput(piece.length)
      }
      wasm.digest()
      return digest.slice()
    },

    hashMessages(messages, length, count) {
      const out = new Uint8Array(HASH_BYTES * count)
      const perPiece = Math.floor(INPUT_BYTES / length)
      if (length < HASH_BYTES || perPiece === 0)
        throw new RangeError(`message length ${length} is out of range`)
      for (let done = 0; done < count; ) {
        const piece = Math.min(perPiece, count - done)
        input.set(messages.subarray(length * done, length * (done + piece)))
        wasm.hashMessages(piece, length)
        out.set(input.subarray(0, HASH_BYTES * piece), HASH_BYTES * done)
        done += piece
      }
      return out
    },

    hashPair(left, right) {
      input.set(left, 0)
      input.set(right, HASH_BYTES)
      wasm.hashInputPairs(1)
      return input.slice(0, HASH_BYTES)
    },

    hashPairs(pairs, count, out) {
      const perPiece = INPUT_BYTES / (2 * HASH_BYTES)
      for (let done = 0; done < count; ) {
        const piece = Math.min(perPiece, count - done)
        input.set(pairs.subarray(2 * HASH_BYTES * done, 2 * HASH_BYTES * (done + piece)))
        wasm.hashInputPairs(piece)
        out.set(input.subarray(0, HASH_BYTES * piece), HASH_BYTES * done)
        done += piece
      }
    },

    foldBranch(leaf, siblings, index) {
      digest.set(leaf)
      branch.set(siblings)
      wasm.foldBranch(index)
      return digest.slice()
    },

    formatNodes(nodes, target, at) {
      const count = nodes.length / HASH_BYTES
      if (count > TEXT_NODES) throw new RangeError(`${count} nodes exceed ${TEXT_NODES}`)
      input.set(nodes)
      const length = wasm.formatNodes(count)
      target.set(text.subarray(0, length), at)
      return length
    },

    kernels: {
      tile: view(wasm.TILE, TILE_BYTES + HASH_BYTES),
      completeTile: wasm.completeTile,
      pathA: tiles(wasm.PATH_A),
      pathB: tiles(wasm.PATH_B),
      edge: view(wasm.EDGE, EDGE_BYTES),
      branch,
      root: digest,
      rootB: view(wasm.DIGEST_B, HASH_BYTES),
      computeRoot: wasm.computeRoot,
      rootPair: wasm.rootPair,
      prove: wasm.prove,
      proveAtEdge: wasm.proveAtEdge,
      proveInTiles: wasm.proveInTiles,
    },
  }
}
