/** Exit codes of the process. docs/operations.md and `bds --help` list the same numbers. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  config: 3,
  data: 4,
  unhealthy: 5,
  different: 6,
  /** What a shell shows after SIGKILL; no code of ours exits with it. */
  killed: 137,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'done',
  failure: 'failed',
  usage: 'wrong command line',
  config: 'mistakes in the configuration',
  data: 'the data folder is of other networks or another version, in use, damaged or unusable, or a limit of the process is too low',
  unhealthy: 'the service is not healthy',
  different: 'two services tell different things',
  killed: 'killed: by its own watchdog, as it hung, or by the system',
}
