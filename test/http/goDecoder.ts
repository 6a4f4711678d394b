import assert from 'node:assert/strict'

/** What a struct in Go says of one field. */
type Leaf =
  /** JSON numbers without a fraction. */
  | 'uint32'
  | 'uint64'
  | 'string'
  | 'bool'
  /** `"0x…"`, 64 small digits. */
  | 'hash'
  /** `"0x…"`, 40 digits. */
  | 'address'
  /** `"0x…"` of whole bytes. */
  | 'bytes'
  /** Digits in quotes. */
  | 'decimal'

/** A list stands in brackets, beside its length where that is fixed. */
export type GoType = Leaf | readonly [GoType, number?] | { readonly [key: string]: GoType }

const TEXTS: Readonly<Record<string, RegExp>> = {
  string: /^/,
  hash: /^0x[0-9a-f]{64}$/,
  address: /^0x[0-9a-fA-F]{40}$/,
  bytes: /^0x([0-9a-f]{2})*$/,
  decimal: /^(0|[1-9][0-9]*)$/,
}

const LIMITS: Readonly<Record<string, number>> = { uint32: 2 ** 32 - 1, uint64: Number.MAX_SAFE_INTEGER }

/**
 * Reads JSON as a strict client in Go does: each key has the type that its struct says, none is unknown, none is missing.
 * @throws AssertionError naming the place of the first value that has another type.
 */
export function decodeGo(value: unknown, type: GoType, at = 'body'): void {
  if (typeof type === 'string') {
    const limit = LIMITS[type]
    const told = `${at} is no ${type}: ${JSON.stringify(value)}`
    if (type === 'bool') assert.equal(typeof value, 'boolean', told)
    else if (limit !== undefined)
      assert.ok(Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limit, told)
    else assert.ok(typeof value === 'string' && TEXTS[type]!.test(value), told)
    return
  }
  if (isList(type)) {
    const [item, length] = type
    assert.ok(Array.isArray(value), `${at} is no list`)
    if (length !== undefined) assert.equal(value.length, length, at)
    for (const [index, one] of value.entries()) decodeGo(one, item, `${at}[${index}]`)
    return
  }
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${at} is no object`)
  assert.deepEqual(Object.keys(value).sort(), Object.keys(type).sort(), at)
  for (const [key, field] of Object.entries(type))
    decodeGo((value as Record<string, unknown>)[key], field, `${at}.${key}`)
}

function isList(type: GoType): type is readonly [GoType, number?] {
  return Array.isArray(type)
}
