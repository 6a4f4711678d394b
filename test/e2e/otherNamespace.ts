import { installedProgram, skipWithout } from '../support/installedProgram.js'

/** The reason why no pid namespace can be made on this machine, or false. */
export const noOtherNamespace = skipWithout('unshare')

/**
 * A command that runs the words after it as process 1 of a new pid namespace, as a container does. A user other
 * than root gets a user namespace for it.
 */
export const inOtherNamespace: readonly string[] = [
  installedProgram('unshare') ?? 'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  '--fork',
  '--pid',
  '--mount-proc',
  '--kill-child',
]

/** The same command under another host name. */
export const underOtherName: readonly string[] = [
  ...inOtherNamespace,
  '--uts',
  installedProgram('sh') ?? 'sh',
  '-c',
  'echo other-host > /proc/sys/kernel/hostname && exec "$@"',
  'sh',
]
