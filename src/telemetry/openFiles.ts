import { readdirSync, statSync } from 'node:fs'

/** Descriptors that this process has open, of all its threads; undefined where there is no /proc. It needs no descriptor on a usual kernel. */
export function openFiles(): number | undefined {
  try {
    // Since Linux 6.2 the size of this folder is its number of entries; before, it is 0.
    const { size } = statSync('/proc/self/fd')
    return size > 0 ? size : readdirSync('/proc/self/fd').length
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? Number.POSITIVE_INFINITY : undefined
  }
}
