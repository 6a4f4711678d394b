import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  firstValue,
  type GoParameters,
  goParsers,
  mandatory,
  optional,
  readParameters as readWanted,
  WantedNames,
} from '../../../../../src/api/dialects/frame/goParameters.js'
import { asNetworkId } from '../../../../../src/protocol/units.js'
import { failure, success } from '../../../../../src/query/answers.js'

const NAMES = new WantedNames(['a', 'b', 'c', 'd', 'n', 'm', 'wanted', ''])
const readParameters = (raw: string) => readWanted(raw, NAMES)

function parametersOf(raw: string): GoParameters {
  const parameters = readParameters(raw)
  assert.ok(parameters.ok)
  return parameters.value
}

test('more parameters than our own endpoints take are refused, malformed ones included, and many encoded ones', () => {
  for (const [piece, most] of [
    ['a', 256],
    ['%zzzzzzzzzzzzz', 256],
    ['%61', 32],
    ['a=%zz', 32],
  ] as const)
    assert.deepEqual(
      [most, most + 1].map((count) => readParameters(new Array(count).fill(piece).join('&')).ok),
      [true, false],
      piece,
    )
})

test('a query string is read as in Go: the first value counts, `+` is a space, what is malformed is left out', () => {
  const parameters = parametersOf('a=1&a=2&b=x+y%2B&%zz=3&c=%zz&d&=5')
  assert.deepEqual(parameters.get('a'), ['1', '2'])
  assert.deepEqual(
    ['a', 'b', 'c', 'd', ''].map((name) => firstValue(parameters, name)),
    ['1', 'x y+', '', '', '5'],
  )
  assert.equal(parameters.size, 4)
  assert.equal(parametersOf('').size, 0)
})

test('a name is read however it is spelled, and names that nobody wants are not', () => {
  const parameters = parametersOf(
    'x=1&wanted=1&%77anted=2&w%61nt%65d=3&w+nted=4&%77anteds=5&%C3%A4=6&&=7&wanted',
  )
  assert.deepEqual(
    [...parameters],
    [
      ['wanted', ['1', '2', '3', '']],
      ['', ['7']],
    ],
  )
})

test('numbers are read as in Go, with leading zeros and without signs; what does not fit 32 bits is an error also where it may be absent', () => {
  const read = (text: string) => mandatory(parametersOf(`n=${text}`), 'n')
  for (const [text, value] of [
    ['0', 0],
    ['007', 7],
    [`${'0'.repeat(60)}9`, 9],
    ['4294967295', 4_294_967_295],
  ] as const)
    assert.deepEqual(read(text), { ok: true, value })
  for (const [text, message] of [
    ['', 'n is mandatory'],
    ['1e3', 'invalid n parameter: strconv.ParseUint: parsing "1e3": invalid syntax'],
    ['0x10', 'invalid n parameter: strconv.ParseUint: parsing "0x10": invalid syntax'],
    ['%201', 'invalid n parameter: strconv.ParseUint: parsing " 1": invalid syntax'],
    ['4294967296', 'n value out of range for uint32'],
  ] as const) {
    const answer = read(text)
    assert.equal(!answer.ok && answer.message, message)
  }
  const parameters = parametersOf('n=x&m=4294967296')
  assert.deepEqual(optional(parameters, 'n', 20), { ok: true, value: 20 })
  assert.equal(optional(parameters, 'm', 20).ok, false)
})

test('a network that is not served is refused in the words of the dialect, or of the endpoint that has its own', () => {
  const parser = goParsers(NAMES, (networkId) => `no network ${networkId}`)
  const read = (parameters: GoParameters) =>
    success({ networkId: asNetworkId(Number(firstValue(parameters, 'n'))) })
  const served = new Set([0, 7])
  for (const [parse, message] of [
    [parser(read)(served), 'no network 8'],
    [parser(read, () => 'none here')(served), 'none here'],
  ] as const) {
    assert.deepEqual(parse('n=7'), success({ query: { networkId: 7 }, key: 'networkId=7' }))
    assert.deepEqual(parse('n=8'), failure('INVALID_NETWORK_ID', message))
  }
})
