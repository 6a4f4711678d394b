import { readFileSync } from 'node:fs'
import type { LogScanner } from '../events/packedLogs.js'
import type { TreeHasher } from '../merkle/hasher.js'
import type { RowWriter } from '../query/packedRows.js'
import { createWasmLogScanner, type LogExports } from './logScanner.js'
import { createWasmRowWriter, type RowExports } from './rowWriter.js'
import { createWasmTextDigest, type TextDigest, type TextExports } from './textDigest.js'
import { createWasmHasher, type MerkleExports } from './wasmHasher.js'

/** Builds of the one source in assembly/. The debug builds are for tests. */
export type MerkleBuild = 'simd' | 'scalar' | 'simd-debug' | 'scalar-debug'

/** A compiled module: plain data that travels through `workerData`, so that each thread only instantiates it. */
export interface CompiledMerkle {
  readonly name: string
  readonly module: WebAssembly.Module
}

const files: Record<MerkleBuild, string> = {
  simd: '../../wasm/merkle.simd.wasm',
  scalar: '../../wasm/merkle.scalar.wasm',
  'simd-debug': '../../debug/merkle.simd.wasm',
  'scalar-debug': '../../debug/merkle.scalar.wasm',
}

/**
 * Compiles the module once for the process: the SIMD build where the engine takes it, else the scalar one.
 * @param build forces one build: for tests and benches.
 */
export function compileMerkleModule(build?: MerkleBuild): CompiledMerkle {
  const chosen = build ?? (WebAssembly.validate(read('simd')) ? 'simd' : 'scalar')
  return { name: `wasm-${chosen}`, module: new WebAssembly.Module(read(chosen)) }
}

/**
 * A hasher of its own for this thread: an instance's memory must not be shared. The kernels keep no state between calls,
 * so a call that fails leaves nothing behind.
 */
export function createHasher(compiled: CompiledMerkle): TreeHasher {
  return createWasmHasher(compiled.name, instantiate<MerkleExports>(compiled))
}

/** Writes stored rows as JSON, in an instance of its own for this thread. */
export function createRowWriter(compiled: CompiledMerkle): RowWriter {
  return createWasmRowWriter(instantiate<RowExports>(compiled))
}

/** Digests texts, in an instance of its own for this thread. */
export function createTextDigest(compiled: CompiledMerkle): TextDigest {
  return createWasmTextDigest(instantiate<TextExports>(compiled))
}

/** Reads logs of JSON-RPC answers, in an instance of its own for this thread. */
export function createLogScanner(compiled: CompiledMerkle): LogScanner {
  return createWasmLogScanner(instantiate<LogExports>(compiled))
}

function read(build: MerkleBuild): Buffer<ArrayBuffer> {
  return readFileSync(new URL(files[build], import.meta.url))
}

function instantiate<Exports>({ module }: CompiledMerkle): Exports {
  // The exports are what assembly/index.ts exports: the build and this file land together.
  return new WebAssembly.Instance(module).exports as Exports
}
