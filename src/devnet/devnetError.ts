/** A fault that the user of the devnet can act on. Print its message without a stack. */
export class DevnetError extends Error {
  override readonly name = 'DevnetError'
}
