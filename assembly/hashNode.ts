import { ROUND_CONSTANTS, ROUND_CONSTANTS_END } from './layout'

/**
 * keccak-256(left ‖ right): 64 bytes are one block, so this is one permutation with the padding folded in.
 * Lanes 9–15 and 17–24 start as zero: the first round leaves them out. Of the last round only the four lanes of the
 * digest are computed.
 */
export function hashNode(left: usize, right: usize, out: usize): void {
  const i0 = load<u64>(left, 0)
  const i1 = load<u64>(left, 8)
  const i2 = load<u64>(left, 16)
  const i3 = load<u64>(left, 24)
  const i4 = load<u64>(right, 0)
  const i5 = load<u64>(right, 8)
  const i6 = load<u64>(right, 16)
  const i7 = load<u64>(right, 24)
  // padding 0x01 … 0x80 of the 136-byte block
  const i8: u64 = 1
  const i16: u64 = 0x8000000000000000
  // round 1
  let c0 = i0 ^ i5
  let c1 = i1 ^ i6 ^ i16
  let c2 = i2 ^ i7
  let c3 = i3 ^ i8
  let c4 = i4
  let d0 = c4 ^ rotl<u64>(c1, 1)
  let d1 = c0 ^ rotl<u64>(c2, 1)
  let d2 = c1 ^ rotl<u64>(c3, 1)
  let d3 = c2 ^ rotl<u64>(c4, 1)
  let d4 = c3 ^ rotl<u64>(c0, 1)
  let b0 = i0 ^ d0
  let b1 = rotl<u64>(i6 ^ d1, 44)
  let b2 = rotl<u64>(d2, 43)
  let b3 = rotl<u64>(d3, 21)
  let b4 = rotl<u64>(d4, 14)
  let a0 = b0 ^ (~b1 & b2) ^ load<u64>(ROUND_CONSTANTS)
  let a1 = b1 ^ (~b2 & b3)
  let a2 = b2 ^ (~b3 & b4)
  let a3 = b3 ^ (~b4 & b0)
  let a4 = b4 ^ (~b0 & b1)
  b0 = rotl<u64>(i3 ^ d3, 28)
  b1 = rotl<u64>(d4, 20)
  b2 = rotl<u64>(d0, 3)
  b3 = rotl<u64>(i16 ^ d1, 45)
  b4 = rotl<u64>(d2, 61)
  let a5 = b0 ^ (~b1 & b2)
  let a6 = b1 ^ (~b2 & b3)
  let a7 = b2 ^ (~b3 & b4)
  let a8 = b3 ^ (~b4 & b0)
  let a9 = b4 ^ (~b0 & b1)
  b0 = rotl<u64>(i1 ^ d1, 1)
  b1 = rotl<u64>(i7 ^ d2, 6)
  b2 = rotl<u64>(d3, 25)
  b3 = rotl<u64>(d4, 8)
  b4 = rotl<u64>(d0, 18)
  let a10 = b0 ^ (~b1 & b2)
  let a11 = b1 ^ (~b2 & b3)
  let a12 = b2 ^ (~b3 & b4)
  let a13 = b3 ^ (~b4 & b0)
  let a14 = b4 ^ (~b0 & b1)
  b0 = rotl<u64>(i4 ^ d4, 27)
  b1 = rotl<u64>(i5 ^ d0, 36)
  b2 = rotl<u64>(d1, 10)
  b3 = rotl<u64>(d2, 15)
  b4 = rotl<u64>(d3, 56)
  let a15 = b0 ^ (~b1 & b2)
  let a16 = b1 ^ (~b2 & b3)
  let a17 = b2 ^ (~b3 & b4)
  let a18 = b3 ^ (~b4 & b0)
  let a19 = b4 ^ (~b0 & b1)
  b0 = rotl<u64>(i2 ^ d2, 62)
  b1 = rotl<u64>(i8 ^ d3, 55)
  b2 = rotl<u64>(d4, 39)
  b3 = rotl<u64>(d0, 41)
  b4 = rotl<u64>(d1, 2)
  let a20 = b0 ^ (~b1 & b2)
  let a21 = b1 ^ (~b2 & b3)
  let a22 = b2 ^ (~b3 & b4)
  let a23 = b3 ^ (~b4 & b0)
  let a24 = b4 ^ (~b0 & b1)
  // rounds 2–23
  for (let rc: usize = ROUND_CONSTANTS + 8; rc < ROUND_CONSTANTS_END - 8; rc += 8) {
    c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
    c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
    c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
    c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
    c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
    d0 = c4 ^ rotl<u64>(c1, 1)
    d1 = c0 ^ rotl<u64>(c2, 1)
    d2 = c1 ^ rotl<u64>(c3, 1)
    d3 = c2 ^ rotl<u64>(c4, 1)
    d4 = c3 ^ rotl<u64>(c0, 1)
    b0 = a0 ^ d0
    b1 = rotl<u64>(a6 ^ d1, 44)
    b2 = rotl<u64>(a12 ^ d2, 43)
    b3 = rotl<u64>(a18 ^ d3, 21)
    b4 = rotl<u64>(a24 ^ d4, 14)
    const e0 = b0 ^ (~b1 & b2) ^ load<u64>(rc)
    const e1 = b1 ^ (~b2 & b3)
    const e2 = b2 ^ (~b3 & b4)
    const e3 = b3 ^ (~b4 & b0)
    const e4 = b4 ^ (~b0 & b1)
    b0 = rotl<u64>(a3 ^ d3, 28)
    b1 = rotl<u64>(a9 ^ d4, 20)
    b2 = rotl<u64>(a10 ^ d0, 3)
    b3 = rotl<u64>(a16 ^ d1, 45)
    b4 = rotl<u64>(a22 ^ d2, 61)
    const e5 = b0 ^ (~b1 & b2)
    const e6 = b1 ^ (~b2 & b3)
    const e7 = b2 ^ (~b3 & b4)
    const e8 = b3 ^ (~b4 & b0)
    const e9 = b4 ^ (~b0 & b1)
    b0 = rotl<u64>(a1 ^ d1, 1)
    b1 = rotl<u64>(a7 ^ d2, 6)
    b2 = rotl<u64>(a13 ^ d3, 25)
    b3 = rotl<u64>(a19 ^ d4, 8)
    b4 = rotl<u64>(a20 ^ d0, 18)
    const e10 = b0 ^ (~b1 & b2)
    const e11 = b1 ^ (~b2 & b3)
    const e12 = b2 ^ (~b3 & b4)
    const e13 = b3 ^ (~b4 & b0)
    const e14 = b4 ^ (~b0 & b1)
    b0 = rotl<u64>(a4 ^ d4, 27)
    b1 = rotl<u64>(a5 ^ d0, 36)
    b2 = rotl<u64>(a11 ^ d1, 10)
    b3 = rotl<u64>(a17 ^ d2, 15)
    b4 = rotl<u64>(a23 ^ d3, 56)
    const e15 = b0 ^ (~b1 & b2)
    const e16 = b1 ^ (~b2 & b3)
    const e17 = b2 ^ (~b3 & b4)
    const e18 = b3 ^ (~b4 & b0)
    const e19 = b4 ^ (~b0 & b1)
    b0 = rotl<u64>(a2 ^ d2, 62)
    b1 = rotl<u64>(a8 ^ d3, 55)
    b2 = rotl<u64>(a14 ^ d4, 39)
    b3 = rotl<u64>(a15 ^ d0, 41)
    b4 = rotl<u64>(a21 ^ d1, 2)
    const e20 = b0 ^ (~b1 & b2)
    const e21 = b1 ^ (~b2 & b3)
    const e22 = b2 ^ (~b3 & b4)
    const e23 = b3 ^ (~b4 & b0)
    const e24 = b4 ^ (~b0 & b1)
    a0 = e0
    a1 = e1
    a2 = e2
    a3 = e3
    a4 = e4
    a5 = e5
    a6 = e6
    a7 = e7
    a8 = e8
    a9 = e9
    a10 = e10
    a11 = e11
    a12 = e12
    a13 = e13
    a14 = e14
    a15 = e15
    a16 = e16
    a17 = e17
    a18 = e18
    a19 = e19
    a20 = e20
    a21 = e21
    a22 = e22
    a23 = e23
    a24 = e24
  }
  // round 24: only the four lanes of the digest
  c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
  c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
  c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
  c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
  c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
  d0 = c4 ^ rotl<u64>(c1, 1)
  d1 = c0 ^ rotl<u64>(c2, 1)
  d2 = c1 ^ rotl<u64>(c3, 1)
  d3 = c2 ^ rotl<u64>(c4, 1)
  d4 = c3 ^ rotl<u64>(c0, 1)
  b0 = a0 ^ d0
  b1 = rotl<u64>(a6 ^ d1, 44)
  b2 = rotl<u64>(a12 ^ d2, 43)
  b3 = rotl<u64>(a18 ^ d3, 21)
  b4 = rotl<u64>(a24 ^ d4, 14)
  const e0 = b0 ^ (~b1 & b2) ^ load<u64>(ROUND_CONSTANTS_END - 8)
  const e1 = b1 ^ (~b2 & b3)
  const e2 = b2 ^ (~b3 & b4)
  const e3 = b3 ^ (~b4 & b0)
  store<u64>(out, e0, 0)
  store<u64>(out, e1, 8)
  store<u64>(out, e2, 16)
  store<u64>(out, e3, 24)
}
