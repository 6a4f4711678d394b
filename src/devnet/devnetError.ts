/** Something a person who runs the devnet can act on. The message is complete: print it without a stack. */
export class DevnetError extends Error {
  override readonly name = 'DevnetError'
}
