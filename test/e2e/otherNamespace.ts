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

/** A command that runs the words after it with a folder seen read-only at another path, in a mount namespace of its own. */
export function withReadOnlyMount(
  folder: string,
  mountPoint: string,
  launcher: readonly string[] = inOtherNamespace,
): readonly string[] {
  return [
    ...launcher,
    ...(launcher.includes('--mount-proc') ? [] : ['--mount']),
    installedProgram('sh') ?? 'sh',
    '-c',
    '"$0" --bind "$1" "$2" && "$0" -o remount,bind,ro "$2" && shift 2 && exec "$@"',
    installedProgram('mount') ?? 'mount',
    folder,
    mountPoint,
  ]
}

/** A mount namespace alone: pids stay the same. */
export const inOwnNamespace: readonly string[] = [
  installedProgram('unshare') ?? 'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
]
