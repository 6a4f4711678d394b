import { ROUND_CONSTANTS, ROUND_CONSTANTS_END } from './layout'

function rotl2(x: v128, n: i32): v128 {
  return v128.or(v128.shl<u64>(x, n), v128.shr<u64>(x, 64 - n))
}

function lowLanes(x: v128, y: v128): v128 {
  return v128.shuffle<u64>(x, y, 0, 2)
}

function highLanes(x: v128, y: v128): v128 {
  return v128.shuffle<u64>(x, y, 1, 3)
}

/** Two nodes at once: lane 0 of each vector belongs to the first node, lane 1 to the second. See `hashNode`. */
export function hashTwoNodes(
  left0: usize,
  right0: usize,
  left1: usize,
  right1: usize,
  out0: usize,
  out1: usize,
): void {
  const left00 = v128.load(left0, 0)
  const left10 = v128.load(left1, 0)
  const left01 = v128.load(left0, 16)
  const left11 = v128.load(left1, 16)
  const right00 = v128.load(right0, 0)
  const right10 = v128.load(right1, 0)
  const right01 = v128.load(right0, 16)
  const right11 = v128.load(right1, 16)
  const i0 = lowLanes(left00, left10)
  const i1 = highLanes(left00, left10)
  const i2 = lowLanes(left01, left11)
  const i3 = highLanes(left01, left11)
  const i4 = lowLanes(right00, right10)
  const i5 = highLanes(right00, right10)
  const i6 = lowLanes(right01, right11)
  const i7 = highLanes(right01, right11)
  // padding 0x01 … 0x80 of the 136-byte block
  const i8 = i64x2.splat(1)
  const i16 = i64x2.splat(0x8000000000000000)
  // round 1
  let c0 = v128.xor(i0, i5)
  let c1 = v128.xor(v128.xor(i1, i6), i16)
  let c2 = v128.xor(i2, i7)
  let c3 = v128.xor(i3, i8)
  let c4 = i4
  let d0 = v128.xor(c4, rotl2(c1, 1))
  let d1 = v128.xor(c0, rotl2(c2, 1))
  let d2 = v128.xor(c1, rotl2(c3, 1))
  let d3 = v128.xor(c2, rotl2(c4, 1))
  let d4 = v128.xor(c3, rotl2(c0, 1))
  let b0 = v128.xor(i0, d0)
  let b1 = rotl2(v128.xor(i6, d1), 44)
  let b2 = rotl2(d2, 43)
  let b3 = rotl2(d3, 21)
  let b4 = rotl2(d4, 14)
  let a0 = v128.xor(v128.xor(b0, v128.andnot(b2, b1)), v128.load64_splat(ROUND_CONSTANTS))
  let a1 = v128.xor(b1, v128.andnot(b3, b2))
  let a2 = v128.xor(b2, v128.andnot(b4, b3))
  let a3 = v128.xor(b3, v128.andnot(b0, b4))
  let a4 = v128.xor(b4, v128.andnot(b1, b0))
  b0 = rotl2(v128.xor(i3, d3), 28)
  b1 = rotl2(d4, 20)
  b2 = rotl2(d0, 3)
  b3 = rotl2(v128.xor(i16, d1), 45)
  b4 = rotl2(d2, 61)
  let a5 = v128.xor(b0, v128.andnot(b2, b1))
  let a6 = v128.xor(b1, v128.andnot(b3, b2))
  let a7 = v128.xor(b2, v128.andnot(b4, b3))
  let a8 = v128.xor(b3, v128.andnot(b0, b4))
  let a9 = v128.xor(b4, v128.andnot(b1, b0))
  b0 = rotl2(v128.xor(i1, d1), 1)
  b1 = rotl2(v128.xor(i7, d2), 6)
  b2 = rotl2(d3, 25)
  b3 = rotl2(d4, 8)
  b4 = rotl2(d0, 18)
  let a10 = v128.xor(b0, v128.andnot(b2, b1))
  let a11 = v128.xor(b1, v128.andnot(b3, b2))
  let a12 = v128.xor(b2, v128.andnot(b4, b3))
  let a13 = v128.xor(b3, v128.andnot(b0, b4))
  let a14 = v128.xor(b4, v128.andnot(b1, b0))
  b0 = rotl2(v128.xor(i4, d4), 27)
  b1 = rotl2(v128.xor(i5, d0), 36)
  b2 = rotl2(d1, 10)
  b3 = rotl2(d2, 15)
  b4 = rotl2(d3, 56)
  let a15 = v128.xor(b0, v128.andnot(b2, b1))
  let a16 = v128.xor(b1, v128.andnot(b3, b2))
  let a17 = v128.xor(b2, v128.andnot(b4, b3))
  let a18 = v128.xor(b3, v128.andnot(b0, b4))
  let a19 = v128.xor(b4, v128.andnot(b1, b0))
  b0 = rotl2(v128.xor(i2, d2), 62)
  b1 = rotl2(v128.xor(i8, d3), 55)
  b2 = rotl2(d4, 39)
  b3 = rotl2(d0, 41)
  b4 = rotl2(d1, 2)
  let a20 = v128.xor(b0, v128.andnot(b2, b1))
  let a21 = v128.xor(b1, v128.andnot(b3, b2))
  let a22 = v128.xor(b2, v128.andnot(b4, b3))
  let a23 = v128.xor(b3, v128.andnot(b0, b4))
  let a24 = v128.xor(b4, v128.andnot(b1, b0))
  // rounds 2–23
  for (let rc: usize = ROUND_CONSTANTS + 8; rc < ROUND_CONSTANTS_END - 8; rc += 8) {
    c0 = v128.xor(v128.xor(v128.xor(v128.xor(a0, a5), a10), a15), a20)
    c1 = v128.xor(v128.xor(v128.xor(v128.xor(a1, a6), a11), a16), a21)
    c2 = v128.xor(v128.xor(v128.xor(v128.xor(a2, a7), a12), a17), a22)
    c3 = v128.xor(v128.xor(v128.xor(v128.xor(a3, a8), a13), a18), a23)
    c4 = v128.xor(v128.xor(v128.xor(v128.xor(a4, a9), a14), a19), a24)
    d0 = v128.xor(c4, rotl2(c1, 1))
    d1 = v128.xor(c0, rotl2(c2, 1))
    d2 = v128.xor(c1, rotl2(c3, 1))
    d3 = v128.xor(c2, rotl2(c4, 1))
    d4 = v128.xor(c3, rotl2(c0, 1))
    b0 = v128.xor(a0, d0)
    b1 = rotl2(v128.xor(a6, d1), 44)
    b2 = rotl2(v128.xor(a12, d2), 43)
    b3 = rotl2(v128.xor(a18, d3), 21)
    b4 = rotl2(v128.xor(a24, d4), 14)
    const e0 = v128.xor(v128.xor(b0, v128.andnot(b2, b1)), v128.load64_splat(rc))
    const e1 = v128.xor(b1, v128.andnot(b3, b2))
    const e2 = v128.xor(b2, v128.andnot(b4, b3))
    const e3 = v128.xor(b3, v128.andnot(b0, b4))
    const e4 = v128.xor(b4, v128.andnot(b1, b0))
    b0 = rotl2(v128.xor(a3, d3), 28)
    b1 = rotl2(v128.xor(a9, d4), 20)
    b2 = rotl2(v128.xor(a10, d0), 3)
    b3 = rotl2(v128.xor(a16, d1), 45)
    b4 = rotl2(v128.xor(a22, d2), 61)
    const e5 = v128.xor(b0, v128.andnot(b2, b1))
    const e6 = v128.xor(b1, v128.andnot(b3, b2))
    const e7 = v128.xor(b2, v128.andnot(b4, b3))
    const e8 = v128.xor(b3, v128.andnot(b0, b4))
    const e9 = v128.xor(b4, v128.andnot(b1, b0))
    b0 = rotl2(v128.xor(a1, d1), 1)
    b1 = rotl2(v128.xor(a7, d2), 6)
    b2 = rotl2(v128.xor(a13, d3), 25)
    b3 = rotl2(v128.xor(a19, d4), 8)
    b4 = rotl2(v128.xor(a20, d0), 18)
    const e10 = v128.xor(b0, v128.andnot(b2, b1))
    const e11 = v128.xor(b1, v128.andnot(b3, b2))
    const e12 = v128.xor(b2, v128.andnot(b4, b3))
    const e13 = v128.xor(b3, v128.andnot(b0, b4))
    const e14 = v128.xor(b4, v128.andnot(b1, b0))
    b0 = rotl2(v128.xor(a4, d4), 27)
    b1 = rotl2(v128.xor(a5, d0), 36)
    b2 = rotl2(v128.xor(a11, d1), 10)
    b3 = rotl2(v128.xor(a17, d2), 15)
    b4 = rotl2(v128.xor(a23, d3), 56)
    const e15 = v128.xor(b0, v128.andnot(b2, b1))
    const e16 = v128.xor(b1, v128.andnot(b3, b2))
    const e17 = v128.xor(b2, v128.andnot(b4, b3))
    const e18 = v128.xor(b3, v128.andnot(b0, b4))
    const e19 = v128.xor(b4, v128.andnot(b1, b0))
    b0 = rotl2(v128.xor(a2, d2), 62)
    b1 = rotl2(v128.xor(a8, d3), 55)
    b2 = rotl2(v128.xor(a14, d4), 39)
    b3 = rotl2(v128.xor(a15, d0), 41)
    b4 = rotl2(v128.xor(a21, d1), 2)
    const e20 = v128.xor(b0, v128.andnot(b2, b1))
    const e21 = v128.xor(b1, v128.andnot(b3, b2))
    const e22 = v128.xor(b2, v128.andnot(b4, b3))
    const e23 = v128.xor(b3, v128.andnot(b0, b4))
    const e24 = v128.xor(b4, v128.andnot(b1, b0))
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
  c0 = v128.xor(v128.xor(v128.xor(v128.xor(a0, a5), a10), a15), a20)
  c1 = v128.xor(v128.xor(v128.xor(v128.xor(a1, a6), a11), a16), a21)
  c2 = v128.xor(v128.xor(v128.xor(v128.xor(a2, a7), a12), a17), a22)
  c3 = v128.xor(v128.xor(v128.xor(v128.xor(a3, a8), a13), a18), a23)
  c4 = v128.xor(v128.xor(v128.xor(v128.xor(a4, a9), a14), a19), a24)
  d0 = v128.xor(c4, rotl2(c1, 1))
  d1 = v128.xor(c0, rotl2(c2, 1))
  d2 = v128.xor(c1, rotl2(c3, 1))
  d3 = v128.xor(c2, rotl2(c4, 1))
  d4 = v128.xor(c3, rotl2(c0, 1))
  b0 = v128.xor(a0, d0)
  b1 = rotl2(v128.xor(a6, d1), 44)
  b2 = rotl2(v128.xor(a12, d2), 43)
  b3 = rotl2(v128.xor(a18, d3), 21)
  b4 = rotl2(v128.xor(a24, d4), 14)
  const e0 = v128.xor(v128.xor(b0, v128.andnot(b2, b1)), v128.load64_splat(ROUND_CONSTANTS_END - 8))
  const e1 = v128.xor(b1, v128.andnot(b3, b2))
  const e2 = v128.xor(b2, v128.andnot(b4, b3))
  const e3 = v128.xor(b3, v128.andnot(b0, b4))
  v128.store(out0, lowLanes(e0, e1), 0)
  v128.store(out1, highLanes(e0, e1), 0)
  v128.store(out0, lowLanes(e2, e3), 16)
  v128.store(out1, highLanes(e2, e3), 16)
}
