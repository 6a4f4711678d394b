import { uint256Word } from '../../protocol/abiWords.js'

/** `claimedBitMap(uint256)` */
const SELECTOR = 'ee25560b'
/** Words that one call reads. Creation code may return 24,576 bytes at most (EIP-170): the count and 767 words. Rounded down. */
export const PROGRAM_WORDS = 700
const ADDRESS_AT = '{address}'
/** The byte at which the positions begin, and the one at which the program gives up; filled in below. */
const ARGUMENTS_AT = '{arguments}'
const FAILURE_AT = '{failure}'
const COUNT = '{count}'
const SIZE = '{size}'
const FAILURE = ['5b', '6000', '80', 'fd'].join('')
const FAILURE_BYTES = FAILURE.length / 2

/**
 * An EVM program that reads many words from the bridge: one call instead of hundreds. It is sent as the creation code of an
 * `eth_call` without a receiver: the node runs it, deploys nothing, and answers what the program returns.
 */
const PROGRAM = [
  // memory[0] = selector; memory[0x40] = count: the answer's first word, and so its first byte is not 0xef (EIP-3541)
  ...[`63${SELECTOR}`, '60e0', '1b', '6000', '52'],
  ...[`61${COUNT}`, '6040', '52'],
  // i = 0
  '6000',
  // loop, at byte 0x13: memory[4] = position i
  ...['5b', '6020', '81', '6005', '1b', `61${ARGUMENTS_AT}`, '01', '6004', '39'],
  // memory[0x60 + 32 i] = bridge.claimedBitMap(position)
  ...['6020', '81', '6005', '1b', '6060', '01', '6024', '6000', `73${ADDRESS_AT}`, '5a', 'fa'],
  // not one word returned: give up
  ...['3d', '6020', '14', '16', '15', `61${FAILURE_AT}`, '57'],
  // while (++i < count)
  ...['6001', '01', '80', `61${COUNT}`, '11', '6013', '57'],
  // return memory[0x40 …]
  ...[`62${SIZE}`, '6040', 'f3'],
  FAILURE,
].join('')
const PROGRAM_DIGITS = PROGRAM.replace(ADDRESS_AT, '00'.repeat(20))
  .replaceAll(COUNT, '0000')
  .replace(ARGUMENTS_AT, '0000')
  .replace(FAILURE_AT, '0000')
  .replace(SIZE, '000000').length

const hex = (value: number | bigint, bytes: number): string => value.toString(16).padStart(2 * bytes, '0')

/** @param positions at most PROGRAM_WORDS. @returns the data of the call. */
export function claimedWordsProgram(bridge: string, positions: readonly bigint[]): string {
  const code = PROGRAM.replace(ADDRESS_AT, bridge.slice(2))
    .replaceAll(COUNT, hex(positions.length, 2))
    .replace(ARGUMENTS_AT, hex(PROGRAM_DIGITS / 2, 2))
    .replace(FAILURE_AT, hex(PROGRAM_DIGITS / 2 - FAILURE_BYTES, 2))
    .replace(SIZE, hex(32 * (positions.length + 1), 3))
  return `0x${code}${positions.map((position) => hex(position, 32)).join('')}`
}

/** Reads the program's answer. @returns undefined when the program can't have given it. */
export function claimedWordsOf(answer: unknown, count: number): bigint[] | undefined {
  if (typeof answer !== 'string' || answer.length !== 2 + 64 * (count + 1)) return undefined
  if (uint256Word(answer, 0) !== BigInt(count)) return undefined
  const words: bigint[] = []
  for (let at = 1; at <= count; at++) {
    const word = uint256Word(answer, at)
    if (word === undefined) return undefined
    words.push(word)
  }
  return words
}
