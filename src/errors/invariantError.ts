/** Our own bug or a corrupt store: the shard that meets it stops, and says what was expected and what was found. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  /** Network whose shard contradicts itself, where that is known: it is the one to halt. */
  readonly networkId: number | undefined

  constructor(message: string, options?: ErrorOptions & { readonly networkId?: number }) {
    super(message, options)
    this.networkId = options?.networkId
  }
}
