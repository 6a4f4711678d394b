import { ROUND_CONSTANTS, ROUND_CONSTANTS_END } from './layout'

/** Keccak-f[1600] on the 25 lanes at `state` (FIPS 202, section 3.3; lane x + 5y stands at 8·(x + 5y)). */
export function permute(state: usize): void {
  let a0 = load<u64>(state, 0)
  let a1 = load<u64>(state, 8)
  let a2 = load<u64>(state, 16)
  let a3 = load<u64>(state, 24)
  let a4 = load<u64>(state, 32)
  let a5 = load<u64>(state, 40)
  let a6 = load<u64>(state, 48)
  let a7 = load<u64>(state, 56)
  let a8 = load<u64>(state, 64)
  let a9 = load<u64>(state, 72)
  let a10 = load<u64>(state, 80)
  let a11 = load<u64>(state, 88)
  let a12 = load<u64>(state, 96)
  let a13 = load<u64>(state, 104)
  let a14 = load<u64>(state, 112)
  let a15 = load<u64>(state, 120)
  let a16 = load<u64>(state, 128)
  let a17 = load<u64>(state, 136)
  let a18 = load<u64>(state, 144)
  let a19 = load<u64>(state, 152)
  let a20 = load<u64>(state, 160)
  let a21 = load<u64>(state, 168)
  let a22 = load<u64>(state, 176)
  let a23 = load<u64>(state, 184)
  let a24 = load<u64>(state, 192)
  for (let rc: usize = ROUND_CONSTANTS; rc < ROUND_CONSTANTS_END; rc += 8) {
    const c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
    const c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
    const c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
    const c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
    const c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
    const d0 = c4 ^ rotl<u64>(c1, 1)
    const d1 = c0 ^ rotl<u64>(c2, 1)
    const d2 = c1 ^ rotl<u64>(c3, 1)
    const d3 = c2 ^ rotl<u64>(c4, 1)
    const d4 = c3 ^ rotl<u64>(c0, 1)
    let b0 = a0 ^ d0
    let b1 = rotl<u64>(a6 ^ d1, 44)
    let b2 = rotl<u64>(a12 ^ d2, 43)
    let b3 = rotl<u64>(a18 ^ d3, 21)
    let b4 = rotl<u64>(a24 ^ d4, 14)
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
  store<u64>(state, a0, 0)
  store<u64>(state, a1, 8)
  store<u64>(state, a2, 16)
  store<u64>(state, a3, 24)
  store<u64>(state, a4, 32)
  store<u64>(state, a5, 40)
  store<u64>(state, a6, 48)
  store<u64>(state, a7, 56)
  store<u64>(state, a8, 64)
  store<u64>(state, a9, 72)
  store<u64>(state, a10, 80)
  store<u64>(state, a11, 88)
  store<u64>(state, a12, 96)
  store<u64>(state, a13, 104)
  store<u64>(state, a14, 112)
  store<u64>(state, a15, 120)
  store<u64>(state, a16, 128)
  store<u64>(state, a17, 136)
  store<u64>(state, a18, 144)
  store<u64>(state, a19, 152)
  store<u64>(state, a20, 160)
  store<u64>(state, a21, 168)
  store<u64>(state, a22, 176)
  store<u64>(state, a23, 184)
  store<u64>(state, a24, 192)
}
