/** A bug of ours or a corrupt store. The message says what was expected and what was found. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  /** The network to halt: the one whose shard contradicts itself. Undefined where that is not known. */
  readonly networkId: number | undefined

  constructor(message: string, options?: ErrorOptions & { readonly networkId?: number }) {
    super(message, options)
    this.networkId = options?.networkId
  }
}
