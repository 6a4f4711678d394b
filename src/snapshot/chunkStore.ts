import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors/operatorError.js'

/** Where a snapshot's pieces of bytes are put, by name: a folder, a file, an object store. */
export interface ChunkSink {
  /** Stores the bytes so that they outlast the end of the machine. A name that is already there has the same bytes. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Stores the last piece, after which the whole is complete, all at once, and closes the sink. */
  finish(name: string, bytes: Uint8Array): Promise<void>
  /** Gives up a sink that was not finished, and removes what was put into it. */
  discard(): Promise<void>
}

/** Where a snapshot's pieces are read from. */
export interface ChunkSource {
  /** @returns undefined when there is no such piece. */
  get(name: string): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

/**
 * A folder with a file for each piece. It is made if it is missing.
 * @throws OperatorError when there is anything in it: an older backup is never overwritten.
 */
export async function openFolderSink(folder: string): Promise<ChunkSink> {
  await mkdir(folder, { recursive: true })
  // The file system makes lost+found in each volume.
  const found = (await readdir(folder)).filter((name) => name !== 'lost+found')
  if (found.length > 0) throw new OperatorError(`${folder} is not empty: choose a new folder`)
  const writeTo = async (path: string, bytes: Uint8Array) => {
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
  }
  const names = new Set<string>()
  return {
    put(name, bytes) {
      names.add(name)
      return writeTo(join(folder, name), bytes)
    },
    async finish(name, bytes) {
      const path = join(folder, name)
      await writeTo(`${path}.partial`, bytes)
      await rename(`${path}.partial`, path)
      await syncFolder(folder)
    },
    async discard() {
      for (const name of names) await rm(join(folder, name), { force: true })
    },
  }
}

export function openFolderSource(folder: string): ChunkSource {
  return {
    async get(name) {
      try {
        return await readFile(join(folder, name))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    close: async () => undefined,
  }
}

/** Makes a rename in a folder outlast the end of the machine. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const BLOCK = 512

/**
 * One tar file. It has another name until it is complete.
 * @throws OperatorError when the file exists.
 */
export async function openTarSink(path: string): Promise<ChunkSink> {
  const partial = `${path}.partial`
  await mkdir(dirname(path), { recursive: true })
  if (await isThere(path)) throw new OperatorError(`${path} exists: choose a new file`)
  const file = await open(partial, 'w')
  const names = new Set<string>()
  const put = async (name: string, bytes: Uint8Array) => {
    if (names.has(name)) return
    names.add(name)
    await file.writeFile(tarHeader(name, bytes.length))
    await file.writeFile(bytes)
    await file.writeFile(new Uint8Array(padding(bytes.length)))
  }
  return {
    put,
    async finish(name, bytes) {
      await put(name, bytes)
      await file.writeFile(new Uint8Array(2 * BLOCK))
      await file.sync()
      await file.close()
      await rename(partial, path)
      await syncFolder(dirname(path))
    },
    async discard() {
      await file.close()
      await rm(partial, { force: true })
    },
  }
}

/** @throws OperatorError when it is not a tar file, or ends early. */
export async function openTarSource(path: string): Promise<ChunkSource> {
  const file = await open(path, 'r')
  const members = new Map<string, { readonly at: number; readonly length: number }>()
  const read = async (at: number, length: number): Promise<Uint8Array> => {
    const bytes = new Uint8Array(length)
    for (let done = 0; done < length; ) {
      const { bytesRead } = await file.read(bytes, done, length - done, at + done)
      if (bytesRead === 0) throw new OperatorError(`${path} is cut short, or not a backup`)
      done += bytesRead
    }
    return bytes
  }
  try {
    for (let at = 0; ; ) {
      const header = await read(at, BLOCK)
      if (header[0] === 0) break
      const { name, length } = readTarHeader(header, path)
      members.set(name, { at: at + BLOCK, length })
      at += BLOCK + length + padding(length)
    }
  } catch (error) {
    await file.close()
    throw error
  }
  return {
    async get(name) {
      const member = members.get(name)
      return member === undefined ? undefined : read(member.at, member.length)
    },
    close: () => file.close(),
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await (await open(path, 'r')).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Bytes after a member, up to a whole block. */
function padding(length: number): number {
  return (BLOCK - (length % BLOCK)) % BLOCK
}

// Of the format ustar (POSIX.1-1988): name, mode, owner, group, size and time in octal, checksum, kind, "ustar".

function tarHeader(name: string, length: number): Uint8Array {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  header.write(name, 0, 100, 'latin1')
  header.write(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1')
  header.write(`${octal(length, 11)}\0${octal(0, 11)}\0`, 124, 'latin1')
  header.write('0', 156, 'latin1')
  header.write('ustar\u000000', 257, 'latin1')
  header.write(`${octal(checksumOf(header), 6)}\0 `, 148, 'latin1')
  return header
}

function readTarHeader(header: Uint8Array, path: string): { readonly name: string; readonly length: number } {
  const text = (from: number, to: number) => Buffer.from(header.subarray(from, to)).toString('latin1')
  const checksum = Number.parseInt(text(148, 154), 8)
  if (checksum !== checksumOf(header)) throw new OperatorError(`${path} is damaged, or not a backup`)
  const name = text(0, 100)
  return { name: name.slice(0, name.indexOf('\0')), length: Number.parseInt(text(124, 135), 8) }
}

/** Sum of all bytes, with spaces in the place of the checksum. */
function checksumOf(header: Uint8Array): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte
  return sum
}
