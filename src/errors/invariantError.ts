/** Our own bug or a corrupt store: the shard that meets it stops, and says what was expected and what was found. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
