import { statfsSync } from 'node:fs'

/** File systems that LMDB must not live on, by the magic number that Linux gives them (`man 2 statfs`). */
const UNSAFE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x794c7630, 'overlay'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x786f4256, 'vboxsf'],
])

/**
 * Name of the file system under a folder if data is not safe on it, else undefined. Memory-mapped files and locks of network file
 * systems do not work as LMDB needs, and a container's overlay is deleted with the container.
 */
export function unsafeFileSystem(directory: string): string | undefined {
  return unsafeFileSystemName(statfsSync(directory).type)
}

/** @param type as `statfs` returns it: 32 bits, signed or unsigned. */
export function unsafeFileSystemName(type: number): string | undefined {
  return UNSAFE.get(type >>> 0)
}
