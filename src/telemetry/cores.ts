import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

/** The files in which Linux tells how much CPU time a control group may take; tests pass others. */
export type ReadText = (path: string) => string | undefined

/**
 * Cores that this process may use: those that it may run on, or fewer where its control group, or one around it, has a quota of
 * CPU time. A quota of two and a half cores is 2.5.
 */
export function usableCores(read: ReadText = readOptional, cores = availableParallelism()): number {
  const groups = read('/proc/self/cgroup') ?? ''
  const second = /^0::(.*)$/m.exec(groups)?.[1]
  const first = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1]
  const quotas = [
    ...(second === undefined ? [] : foldersUp('/sys/fs/cgroup', second)).map((folder) =>
      quotaOf(read(join(folder, 'cpu.max'))?.split(' ')),
    ),
    ...(first === undefined ? [] : foldersUp('/sys/fs/cgroup/cpu', first)).map((folder) =>
      quotaOf([read(join(folder, 'cpu.cfs_quota_us')), read(join(folder, 'cpu.cfs_period_us'))]),
    ),
  ]
  return Math.min(cores, ...quotas)
}

/** The folder of a group and of all around it. In a container the group's own path may not exist. */
function foldersUp(root: string, group: string): string[] {
  const parts = group.split('/').filter((part) => part !== '')
  return Array.from({ length: parts.length + 1 }, (_, count) => join(root, ...parts.slice(0, count)))
}

/** @returns `Infinity` without a quota: `max`, or −1. */
function quotaOf([quota, period]: readonly (string | undefined)[] = []): number {
  const cores = Number(quota) / Number(period)
  return cores > 0 ? cores : Number.POSITIVE_INFINITY
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
