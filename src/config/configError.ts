/** The configuration can't be used. `mistakes` lists every fault that was found, one sentence each, without secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(`${mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`} in the configuration`)
    this.mistakes = mistakes
  }
}
