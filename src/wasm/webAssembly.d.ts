/** The few parts of the WebAssembly JavaScript interface that wasm.ts and its test use: they come with no library we compile against. */
declare namespace WebAssembly {
  /** Compiled code, without state: may be posted to other threads. */
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>)
    static imports(module: Module): object[]
  }
  class Instance {
    readonly exports: object
    constructor(module: Module)
  }
  /** False where the engine refuses the bytes, such as SIMD on an engine without it. */
  function validate(bytes: Uint8Array<ArrayBuffer>): boolean
}
