/**
 * Makes a native addon that was linked against glibc 2.38 loadable on an older one.
 *
 * The linker of the modern uWebSockets.js bound three C functions by the names of C23 (`__isoc23_strtol`, `__isoc23_strtoul`,
 * `__isoc23_sscanf`), which glibc has since 2.38. They differ from the plain functions in one thing: they also read binary
 * numbers (`0b1`), which the addon never reads. The copy asks for the plain functions in the oldest version that libc has.
 */

const C23_PREFIX = '__isoc23_'
const TOO_NEW = 'GLIBC_2.38'
const LIBC = 'libc.so.6'
/** The oldest version of glibc on x64 and on arm64: its plain functions are those that every program asks for. */
const OLDEST = ['GLIBC_2.2.5', 'GLIBC_2.17']

const SECTION_BYTES = 64
const SYMBOL_BYTES = 24
const SHT_DYNSYM = 11
const SHT_GNU_VERNEED = 0x6fff_fffe

interface Section {
  readonly type: number
  readonly offset: number
  readonly size: number
  /** Number of the section with its strings. */
  readonly link: number
}

/**
 * @param addon a 64-bit little-endian ELF file; it is left alone.
 * @returns a changed copy; undefined where the file is none of these, or needs more of glibc 2.38 than the three functions.
 * @throws RangeError for a file that is cut short.
 */
export function fitToOlderGlibc(addon: Uint8Array): Buffer | undefined {
  const elf = Buffer.from(addon)
  if (elf.length < 64 || elf.readUInt32BE(0) !== 0x7f45_4c46 || elf[4] !== 2 || elf[5] !== 1) return undefined
  const sections = readSections(elf)
  const symbols = sections.find(({ type }) => type === SHT_DYNSYM)
  const needs = sections.find(({ type }) => type === SHT_GNU_VERNEED)
  if (symbols === undefined || needs === undefined) return undefined
  if (!renameVersion(elf, needs, sections[needs.link]!.offset)) return undefined
  return renameSymbols(elf, symbols, sections[symbols.link]!.offset) === 0 ? undefined : elf
}

function readSections(elf: Buffer): Section[] {
  const start = Number(elf.readBigUInt64LE(40))
  return Array.from({ length: elf.readUInt16LE(60) }, (_, index) => {
    const at = start + SECTION_BYTES * index
    return {
      type: elf.readUInt32LE(at + 4),
      offset: Number(elf.readBigUInt64LE(at + 24)),
      size: Number(elf.readBigUInt64LE(at + 32)),
      link: elf.readUInt32LE(at + 40),
    }
  })
}

/**
 * Removes the prefix from names of the symbol table. A name is an offset into a table of strings, so a higher offset into the
 * same string is the plain name. @returns the number of names.
 */
function renameSymbols(elf: Buffer, symbols: Section, strings: number): number {
  let renamed = 0
  for (let at = symbols.offset; at < symbols.offset + symbols.size; at += SYMBOL_BYTES) {
    const name = elf.readUInt32LE(at)
    if (!textAt(elf, strings + name).startsWith(C23_PREFIX)) continue
    elf.writeUInt32LE(name + C23_PREFIX.length, at)
    renamed++
  }
  return renamed
}

/** Turns libc's entry for the version that is too new into one for the oldest. @returns false where libc lacks either entry. */
function renameVersion(elf: Buffer, needs: Section, strings: number): boolean {
  for (let at = needs.offset; ; ) {
    if (textAt(elf, strings + elf.readUInt32LE(at + 4)) === LIBC) {
      const versions = readVersions(elf, at, strings)
      const tooNew = versions.get(TOO_NEW)
      const oldest = OLDEST.map((name) => versions.get(name)).find((entry) => entry !== undefined)
      if (tooNew === undefined || oldest === undefined) return false
      // Only the name and its hash are copied: the number by which symbols refer to the entry stays.
      elf.copy(elf, tooNew, oldest, oldest + 4)
      elf.copy(elf, tooNew + 8, oldest + 8, oldest + 12)
      return true
    }
    const next = elf.readUInt32LE(at + 12)
    if (next === 0) return false
    at += next
  }
}

/** @returns version → offset of its entry, for each version that the addon asks of one library. */
function readVersions(elf: Buffer, library: number, strings: number): Map<string, number> {
  const versions = new Map<string, number>()
  let at = library + elf.readUInt32LE(library + 8)
  for (let left = elf.readUInt16LE(library + 2); left > 0; left--) {
    versions.set(textAt(elf, strings + elf.readUInt32LE(at + 8)), at)
    at += elf.readUInt32LE(at + 12)
  }
  return versions
}

function textAt(elf: Buffer, offset: number): string {
  return elf.toString('latin1', offset, elf.indexOf(0, offset))
}
