import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsafeFileSystem, unsafeFileSystemName } from '../../../../src/store/folder/fileSystem.js'

test('network file systems, FUSE and overlay are named, from either sign of their magic number', () => {
  // Magic numbers of `man 2 statfs`.
  const named: [number, string | undefined][] = [
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xff534d42 - 2 ** 32, 'CIFS'],
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
    [0x794c7630, 'overlay'],
    [0xef53, undefined],
    [0x58465342, undefined],
    [0x01021994, undefined],
  ]
  for (const [type, name] of named) assert.equal(unsafeFileSystemName(type), name, type.toString(16))
})

test('the file system of /proc raises no warning', () => {
  assert.equal(unsafeFileSystem('/proc'), undefined)
})
