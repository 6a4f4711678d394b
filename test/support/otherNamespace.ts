import { installedProgram, skipWithout } from './installedProgram.js'

/** Why nothing can be run in a pid namespace of its own here, or false. */
export const noOtherNamespace = skipWithout('unshare')

/**
 * A command that runs the words after it as process 1 of a pid namespace of its own, as a container does. Who is not root
 * gets a user namespace for it.
 */
export const inOtherNamespace: readonly string[] = [
  installedProgram('unshare') ?? 'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  '--fork',
  '--pid',
  '--mount-proc',
  '--kill-child',
]

/** The same under another host name. */
export const underOtherName: readonly string[] = [
  ...inOtherNamespace,
  '--uts',
  installedProgram('sh') ?? 'sh',
  '-c',
  'echo other-host > /proc/sys/kernel/hostname && exec "$@"',
  'sh',
]
