import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'smol-toml'
import { stringify } from 'yaml'
import { ConfigError } from '../../../src/config/configError.js'
import { fileSchema } from '../../../src/config/fileSchema.js'
import { loadConfig } from '../../../src/config/load.js'
import { renderDefault } from '../../../src/config/render.js'
import { pageOf } from '../../support/docsPages.js'
import { EXAMPLE_TOML } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

function written(context: TestContext, name: string, text: string | Buffer): string {
  const file = join(tempFolder(context), name)
  writeFileSync(file, text)
  return file
}

function firstMistake(file: string): string | undefined {
  try {
    loadConfig({ file, environment: {} })
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.mistakes[0]
  }
  return undefined
}

test('the same keys as TOML, YAML and JSON make the same configuration', (t) => {
  const table = parse(EXAMPLE_TOML)
  const of = (name: string, text: string) => loadConfig({ file: written(t, name, text), environment: {} })
  const { config } = of('bds.toml', EXAMPLE_TOML)
  for (const [name, text] of [
    ['bds.yaml', stringify(table)],
    ['bds.YML', stringify(table)],
    ['bds.json', JSON.stringify({ $schema: './bds.schema.json', ...table })],
  ] as const)
    assert.deepEqual(of(name, text).config, config, name)
})

test('an address without quotes is a text in YAML, not a number', (t) => {
  const yaml = stringify(parse(EXAMPLE_TOML)).replaceAll(/"(0x[0-9a-fA-F]{40})"/g, '$1')
  assert.match(yaml, /bridge: 0x2a3D/)
  assert.equal(firstMistake(written(t, 'bds.yaml', yaml)), undefined)
})

test('a mistake in YAML or JSON is named by its place, and the file is not quoted', (t) => {
  const secret = 'https://rpc.test/secret-key'
  const yaml = firstMistake(written(t, 'bds.yaml', `networks:\n  - rpc: [${secret}\n  chain_id: 1\n`))
  assert.match(yaml ?? '', /bds\.yaml, line \d+, column \d+: not YAML \([a-z ]+\)$/)
  const json = firstMistake(written(t, 'bds.json', `{"networks": [\n{"rpc": "${secret}" "chain_id": 1}]}`))
  assert.match(json ?? '', /bds\.json, line 2, column \d+: not JSON$/)
  for (const mistake of [yaml, json]) assert.doesNotMatch(mistake ?? '', /secret/)
  assert.match(firstMistake(written(t, 'list.json', '[1]')) ?? '', /does not hold a table of keys$/)
})

const yamlOf = (text: string): string => stringify(parse(text))
const jsonOf = (text: string): string => JSON.stringify(parse(text), null, 1)

test('a byte order mark and the line ends of Windows change nothing', (t) => {
  const { config } = loadConfig({ file: written(t, 'bds.toml', EXAMPLE_TOML), environment: {} })
  for (const [name, text] of [
    ['bds.toml', EXAMPLE_TOML],
    ['bds.yaml', yamlOf(EXAMPLE_TOML)],
    ['bds.json', jsonOf(EXAMPLE_TOML)],
  ] as const) {
    const file = written(t, name, `\ufeff${text.replaceAll('\n', '\r\n')}`)
    assert.deepEqual(loadConfig({ file, environment: {} }).config, config, name)
  }
})

test('a file that is not UTF-8 is refused, rather than read with other letters', (t) => {
  for (const [name, text] of [
    ['bds.toml', EXAMPLE_TOML],
    ['bds.yaml', yamlOf(EXAMPLE_TOML)],
    ['bds.json', jsonOf(EXAMPLE_TOML)],
  ] as const)
    for (const encoding of ['latin1', 'utf16le'] as const) {
      const bytes = Buffer.from(text.replace('./data', './d\u00e4ta'), encoding)
      assert.match(firstMistake(written(t, name, bytes)) ?? '', /is not UTF-8$/, `${name} as ${encoding}`)
    }
})

test('a key that stands twice is refused in each format, by its place', (t) => {
  const yaml = `${yamlOf(EXAMPLE_TOML)}http:\n  port: 1\n`
  const json = jsonOf(EXAMPLE_TOML).replace('"port": 5577', '"port": 5577,\n"port": 5578')
  assert.match(firstMistake(written(t, 'bds.toml', `${EXAMPLE_TOML}[http]\n`)) ?? '', /line \d+, column \d+/)
  assert.match(firstMistake(written(t, 'bds.yaml', yaml)) ?? '', /not YAML \(duplicate key\)$/)
  assert.match(firstMistake(written(t, 'bds.json', json)) ?? '', /line 7, column 1: this key stands twice$/)
})

test('YAML that would grow or repeat without end is refused, and an alias of a value is read', (t) => {
  const bomb = [...'abcdefghi'].map((name, at) => {
    const item = at === 0 ? 'x' : `*${'abcdefghi'[at - 1]}`
    return `${name}: &${name} [${Array.from({ length: 9 }, () => item).join(', ')}]`
  })
  for (const text of [bomb.join('\n'), 'networks: &all\n  - *all\n'])
    assert.match(firstMistake(written(t, 'bds.yaml', text)) ?? '', /its YAML aliases can't be resolved$/)
  const address = '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe'
  const [before, between, after] = yamlOf(EXAMPLE_TOML).split(`bridge: "${address}"`)
  const aliased = `${before}bridge: &bridge "${address}"${between}bridge: *bridge${after}`
  assert.equal(firstMistake(written(t, 'bds.yaml', aliased)), undefined)
})

test('what YAML and JSON leave empty is called so', (t) => {
  const told = 'http.port is empty, from file; expected an integer from 0 to 65535'
  assert.equal(firstMistake(written(t, 'a.yaml', yamlOf(EXAMPLE_TOML).replace('port: 5577', 'port:'))), told)
  const json = jsonOf(EXAMPLE_TOML).replace('"port": 5577', '"port": null')
  assert.equal(firstMistake(written(t, 'a.json', json)), told)
})

const PRESET = `
preset = "mainnet"
[[networks]]
network_id = 0
rpc = ["http://127.0.0.1:1"]
[[networks]]
network_id = 3
rpc = ["http://127.0.0.1:2"]
start_block = 7
`

test('under a preset a network needs its id and endpoints only', (t) => {
  const { config, sources } = loadConfig({ file: written(t, 'bds.toml', PRESET), environment: {} })
  const bridge = '0x2a3dd3eb832af982ec71669e178424b10dca2ede'
  assert.deepEqual(
    config.networks.map((network) => [
      network.networkId,
      network.chainId,
      network.bridge,
      network.globalExitRootManager,
      network.rollupManager,
      network.startBlock,
    ]),
    [
      [
        0,
        1,
        bridge,
        '0x580bda1e7a0cfae92fa7f6c20a3794f169ce3cfb',
        '0x5132a183e9f3cb7c848b0aac5ae0c4f0491b7ab2',
        16_896_718,
      ],
      [3, 196, bridge, '0xa40d5f56745a118d0906a34e69aec8c0db1cb8fa', undefined, 7],
    ],
  )
  assert.equal(sources.get('networks[1].chain_id'), 'preset mainnet')
  assert.equal(sources.get('networks[1].start_block'), 'file')
})

test('a preset yields to the environment, and does not know other networks', (t) => {
  const file = written(t, 'bds.toml', PRESET)
  const environment = { BDS_NETWORKS__3__CHAIN_ID: '195', BDS_NETWORKS__999__RPC: 'http://127.0.0.1:3' }
  assert.throws(
    () => loadConfig({ file, environment }),
    (error) =>
      error instanceof ConfigError &&
      error.mistakes.includes('networks[2].chain_id (network 999) is missing'),
  )
  const { config } = loadConfig({ file, environment: { BDS_NETWORKS__3__CHAIN_ID: '195' } })
  assert.equal(config.networks[1]?.chainId, 195)
})

test('an unknown preset is refused with those that there are', (t) => {
  assert.equal(
    firstMistake(written(t, 'bds.toml', PRESET.replace('mainnet', 'main'))),
    'preset is "main", from file; expected mainnet, cardona, bali or spec',
  )
})

const isValid = new Ajv({ allErrors: true }).compile(fileSchema())

test('the schema for editors takes the default file, the example, presets and variables', () => {
  for (const [name, table] of Object.entries({
    default: parse(renderDefault()),
    example: parse(EXAMPLE_TOML),
    preset: parse(PRESET),
    variables: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
      http: { port: '${PORT:-80}' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
      networks: [{ network_id: 0, bridge: '${BRIDGE}', rpc: [{ url: '${URL}' }] }],
    },
  }))
    assert.ok(isValid(table), `${name}: ${JSON.stringify(isValid.errors)}`)
})

test('the schema for editors refuses unknown keys and values out of range', () => {
  for (const table of [
    { htttp: {} },
    { http: { port: 70_000 } },
    { log: { level: 'loud' } },
    { networks: [{ rpc: ['http://a'] }] },
    { networks: [{ network_id: 0, bridge: '0x12' }] },
    { networks: [{ network_id: 0, rpc: [{ adress: 'http://a' }] }] },
  ])
    assert.ok(!isValid(table), JSON.stringify(table))
})

test('docs/config.schema.json is the schema of this version: bds config schema > docs/config.schema.json', () => {
  assert.equal(pageOf('docs/config.schema.json'), `${JSON.stringify(fileSchema(), null, 2)}\n`)
})
