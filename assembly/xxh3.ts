/**
 * XXH3-128 of texts above 240 bytes (xxHash specification 0.2.0, "for large inputs"; seed 0, the default secret): told apart
 * by it are the answers of one URL. The host puts pieces at `INPUT`. Scalar in every build: a lane takes one multiplication
 * of 32 bits, and the shuffles around a vector's cost what it saves.
 */

import { DIGEST, INPUT } from './layout'

const PRIME32_1: u64 = 0x9e3779b1
const PRIME32_2: u64 = 0x85ebca77
const PRIME32_3: u64 = 0xc2b2ae3d
const PRIME64_1: u64 = 0x9e3779b185ebca87
const PRIME64_2: u64 = 0xc2b2ae3d27d4eb4f
const PRIME64_3: u64 = 0x165667b19e3779f9
const PRIME64_4: u64 = 0x85ebca77c2b2ae63
const PRIME64_5: u64 = 0x27d4eb2f165667c5
const PRIME_MX1: u64 = 0x165667919e3779f9

const STRIPE: usize = 64
const BLOCK: usize = 1024
const BLOCK_STRIPES: i32 = 16

/** The default secret, 192 bytes. */
const SECRET: usize = memory.data<u64>(
  [
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb,
    0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c, 0xa32e531b8b65d088,
    0x4ef90da297486471, 0xd8acdea946ef1938, 0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a,
    0x647378d9c97e9fc8, 0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
    0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af,
  ],
  16,
)
const SCRAMBLE_SECRET: usize = SECRET + 128
const LAST_STRIPE_SECRET: usize = SECRET + 121
const LOW_SECRET: usize = SECRET + 11
const HIGH_SECRET: usize = SECRET + 117

/** Eight lanes. */
const LANES: usize = memory.data(64, 16)

export function startText(): void {
  store<u64>(LANES, PRIME32_3)
  store<u64>(LANES, PRIME64_1, 8)
  store<u64>(LANES, PRIME64_2, 16)
  store<u64>(LANES, PRIME64_3, 24)
  store<u64>(LANES, PRIME64_4, 32)
  store<u64>(LANES, PRIME32_2, 40)
  store<u64>(LANES, PRIME64_5, 48)
  store<u64>(LANES, PRIME32_1, 56)
}

/** Takes in `count` whole blocks of 1,024 bytes at `INPUT`. The last block of a text goes to `finishText`, even when it is whole. */
export function absorbBlocks(count: i32): void {
  let at = INPUT
  for (let block = 0; block < count; block++) {
    accumulate(at, BLOCK_STRIPES, SECRET)
    for (let lane: usize = 0; lane < STRIPE; lane += 8) {
      const before = load<u64>(LANES + lane)
      store<u64>(LANES + lane, (before ^ (before >> 47) ^ load<u64>(SCRAMBLE_SECRET + lane)) * PRIME32_1)
    }
    at += BLOCK
  }
}

/**
 * Ends a text of `length` bytes whose last `rest` (1 … 1,024) stand at `INPUT + 64`, behind the 64 bytes before them. Digest:
 * 16 bytes at `DIGEST`, highest first.
 */
export function finishText(rest: i32, length: i32): void {
  const from = INPUT + STRIPE
  accumulate(from, (rest - 1) / 64, SECRET)
  accumulate(from + rest - STRIPE, 1, LAST_STRIPE_SECRET)
  const size = <u64>(<u32>length)
  store<u64>(DIGEST, bswap<u64>(merge(~(size * PRIME64_2), HIGH_SECRET)))
  store<u64>(DIGEST, bswap<u64>(merge(size * PRIME64_1, LOW_SECRET)), 8)
}

/** Stripes one after another, each with the secret 8 bytes further on. The lanes stay in registers on the way. */
function accumulate(at: usize, stripes: i32, secret: usize): void {
  let a = load<u64>(LANES)
  let b = load<u64>(LANES, 8)
  let c = load<u64>(LANES, 16)
  let d = load<u64>(LANES, 24)
  let e = load<u64>(LANES, 32)
  let f = load<u64>(LANES, 40)
  let g = load<u64>(LANES, 48)
  let h = load<u64>(LANES, 56)
  for (let stripe = 0; stripe < stripes; stripe++) {
    const ta = load<u64>(at)
    const tb = load<u64>(at, 8)
    a += tb + product(ta ^ load<u64>(secret))
    b += ta + product(tb ^ load<u64>(secret, 8))
    const tc = load<u64>(at, 16)
    const td = load<u64>(at, 24)
    c += td + product(tc ^ load<u64>(secret, 16))
    d += tc + product(td ^ load<u64>(secret, 24))
    const te = load<u64>(at, 32)
    const tf = load<u64>(at, 40)
    e += tf + product(te ^ load<u64>(secret, 32))
    f += te + product(tf ^ load<u64>(secret, 40))
    const tg = load<u64>(at, 48)
    const th = load<u64>(at, 56)
    g += th + product(tg ^ load<u64>(secret, 48))
    h += tg + product(th ^ load<u64>(secret, 56))
    at += STRIPE
    secret += 8
  }
  store<u64>(LANES, a)
  store<u64>(LANES, b, 8)
  store<u64>(LANES, c, 16)
  store<u64>(LANES, d, 24)
  store<u64>(LANES, e, 32)
  store<u64>(LANES, f, 40)
  store<u64>(LANES, g, 48)
  store<u64>(LANES, h, 56)
}

/** Lower half by upper half. */
function product(value: u64): u64 {
  return (value & 0xffffffff) * (value >> 32)
}

function merge(start: u64, secret: usize): u64 {
  let result = start
  for (let pair: usize = 0; pair < STRIPE; pair += 16) {
    const left = load<u64>(LANES + pair) ^ load<u64>(secret + pair)
    const right = load<u64>(LANES + pair, 8) ^ load<u64>(secret + pair, 8)
    result += foldedProduct(left, right)
  }
  result ^= result >> 37
  result *= PRIME_MX1
  return result ^ (result >> 32)
}

/** The two halves of the product of 128 bits, one laid over the other. */
function foldedProduct(left: u64, right: u64): u64 {
  const low = (left & 0xffffffff) * (right & 0xffffffff)
  const cross = (left >> 32) * (right & 0xffffffff) + (low >> 32)
  const other = (left & 0xffffffff) * (right >> 32) + (cross & 0xffffffff)
  const high = (left >> 32) * (right >> 32) + (cross >> 32) + (other >> 32)
  return high ^ (left * right)
}
