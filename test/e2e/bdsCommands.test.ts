import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '../support/freePort.js'
import { EXAMPLE_TOML } from '../support/loadedConfig.js'
import { startBds } from '../support/serviceProcess.js'
import { tempFolder } from '../support/tempFolder.js'
import { withoutPackages } from './withoutPackages.js'

interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function bds(
  t: TestContext,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const { exited, stdout, stderr } = startBds(t, args, environment)
  const { code } = await exited
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}

function fileWith(t: TestContext, toml: string): string {
  const file = join(tempFolder(t), 'bds.toml')
  writeFileSync(file, toml)
  return file
}

test('help lists every command and ends with 0, and a missing command is a usage error', async (t) => {
  const { code, stdout } = await bds(t, ['--help'])
  assert.equal(code, 0)
  for (const verb of [
    'run',
    'start',
    'devnet',
    'config',
    'health',
    'status',
    'verify',
    'backup',
    'restore',
    'upgrade',
    'export',
    'rewind',
    'reindex',
    'doctor',
    'version',
  ])
    assert.match(stdout, new RegExp(`^ {2}${verb} {2,}\\S`, 'm'), verb)
  const none = await bds(t, [])
  assert.deepEqual([none.code, none.stdout, none.stderr], [2, '', stdout])
})

test("help of a verb lists the verb's own flags, and only run and config list those of the configuration", async (t) => {
  for (const verb of [
    'status',
    'doctor',
    'verify',
    'backup',
    'restore',
    'upgrade',
    'export',
    'rewind',
    'reindex',
    'health',
  ]) {
    const { code, stdout } = await bds(t, [verb, '--help'])
    assert.equal(code, 0)
    assert.match(
      stdout,
      /\n {2}--config FILE +\S.*\n {2}and every configuration flag of `bds run --help`$/,
      verb,
    )
    assert.doesNotMatch(stdout, /--http-port|--pool-workers/, verb)
  }
  for (const verb of ['run', 'config']) {
    const { stdout } = await bds(t, [verb, '--help'])
    for (const flag of [
      '--config FILE',
      '--data-dir PATH',
      '--http-port N',
      '--http-host HOST',
      '--http-compress true|false',
      '--http-cors TEXT',
      '--rate-limit-allow A,B,…',
      '--log-format json|pretty|auto',
    ])
      assert.match(stdout, new RegExp(`^ {2}${flag.replaceAll('|', '\\|')} {2,}\\S`, 'm'), `${verb} ${flag}`)
  }
})

test('--version prints the version of the package', async (t) => {
  assert.match((await bds(t, ['--version'])).stdout, /^bds \d+\.\d+\.\d+ \(API 1\.0\.0, Node \d+/)
})

const wrongLines: [args: string[], message: string][] = [
  [['rnu'], 'unknown command rnu: did you mean run?'],
  [['run', '--htp-port', '1'], 'unknown flag --htp-port: did you mean --http-port?'],
  [['run', 'now'], 'unexpected argument now'],
  [['config'], 'expected bds config check, print, default, schema or import'],
  [['health', '--url', 'nowhere'], '--url nowhere is not an address'],
  [['health', '--url', 'http://me:pass@h:99999/key'], '--url [address] is not an address'],
  [
    ['rewind', '--network', '0', '--to-block', '-1'],
    '--to-block has no value; write one that begins with - as --to-block=-…',
  ],
  [['run', '-c', '--http-port', '1'], '--config has no value; write one that begins with - as --config=-…'],
  [['run', '--config'], '--config has no value'],
  [['rewind', '--to-block', '3', '--network'], '--network has no value'],
  [['status', '--url', 'nowhere'], '--url nowhere is not an address'],
]
for (const [args, message] of wrongLines)
  test(`a wrong command line is a usage error: bds ${args.join(' ')}`, async (t) => {
    const { code, stderr } = await bds(t, args)
    assert.deepEqual([code, stderr], [2, `bds: ${message}\nTry: bds --help`])
  })

test('config check reports all mistakes with exit code 3, or that there are none', async (t) => {
  const bad = EXAMPLE_TOML.replace('5577', '99999').replace('network_id = 1', 'network_id = 0')
  const { code, stderr } = await bds(t, ['config', 'check', '--config', fileWith(t, bad)])
  assert.equal(code, 3)
  assert.match(stderr, /^bds: 4 mistakes in the configuration\n/)
  for (const mistake of ['http.port is 99999', 'network_id 0 is used by 2 networks', 'primary_network 1'])
    assert.ok(stderr.includes(mistake), mistake)
  const good = await bds(t, ['config', 'check', '--config', fileWith(t, EXAMPLE_TOML)])
  const fine = 'the configuration is fine: networks 0, 1; bds doctor checks the endpoints, too'
  assert.deepEqual([good.code, good.stdout], [0, fine])
})

test('config print shows values with their sources, and no secret', async (t) => {
  const args = ['config', 'print', '--config', fileWith(t, EXAMPLE_TOML), '--http-port', '6000']
  const { code, stdout } = await bds(t, args, { BDS_OPS__PORT: '6001' })
  assert.equal(code, 0)
  for (const line of [
    'data_dir = "./data"  # file',
    'port = 6000  # flag --http-port',
    'port = 6001  # env BDS_OPS__PORT',
    'max_queue = 4096  # default',
    'rpc = [{ url = "[redacted]" }]  # file',
  ])
    assert.ok(stdout.split('\n').includes(line), `${line} in\n${stdout}`)
  assert.ok(!stdout.includes('secret-key'))
  const json = await bds(t, [...args, '--json'], { BDS_OPS__PORT: '6001' })
  const { values, networks } = JSON.parse(json.stdout) as {
    readonly values: Readonly<Record<string, unknown>>
    readonly networks: readonly Readonly<Record<string, unknown>>[]
  }
  assert.deepEqual(
    [values['http.port'], values['ops.port'], values['pool.max_queue'], networks[1]!.rpc],
    [
      { value: 6000, source: 'flag --http-port' },
      { value: 6001, source: 'env BDS_OPS__PORT' },
      { value: 4096, source: 'default' },
      { value: [{ url: '[redacted]' }], source: 'file' },
    ],
  )
  assert.ok(!json.stdout.includes('secret-key'))
})

test('config print shows no RPC address, wherever its key came from', async (t) => {
  const rpc = 'rpc = [{ url = "https://u:secret-key@h/", ws_url = "wss://h/secret-key" }]'
  const toml = EXAMPLE_TOML.replace(/^rpc = .*18545.*$/m, rpc)
  const { code, stdout } = await bds(t, ['config', 'print', '--config', fileWith(t, toml)])
  assert.equal(code, 0)
  assert.ok(stdout.includes('rpc = [{ url = "[redacted]", ws_url = "[redacted]" }]'), stdout)
  assert.ok(!stdout.includes('secret-key'))
})

test('the printed default configuration is valid except for its endpoints, which are examples', async (t) => {
  const { stdout } = await bds(t, ['config', 'default'])
  const untouched = await bds(t, ['config', 'check', '--config', fileWith(t, stdout)])
  const example = (networkId: number) =>
    `network ${networkId}: rpc endpoint 0 is an example: replace it by your own address`
  assert.equal(untouched.code, 3)
  for (const networkId of [0, 1]) assert.ok(untouched.stderr.includes(example(networkId)), untouched.stderr)
  const half = fileWith(t, stdout.replace('layer1.example.org', 'layer1.our-own-node.org'))
  const other = await bds(t, ['config', 'check', '--config', half])
  assert.deepEqual(
    [other.code, other.stderr.includes(example(0)), other.stderr.includes(example(1))],
    [3, false, true],
  )
  const filled = fileWith(t, stdout.replaceAll('example.org', 'our-own-node.org'))
  const { code, stderr } = await bds(t, ['config', 'check', '--config', filled])
  assert.deepEqual([code, stderr], [0, ''])
})

test('config check reports an address with a wrong EIP-55 checksum, and accepts one in a single case', async (t) => {
  const right = '0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb'
  const check = (address: string) =>
    bds(t, ['config', 'check', '--config', fileWith(t, EXAMPLE_TOML.replace(right, address))])
  for (const address of [
    '0x580Bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb',
    '0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFB',
  ]) {
    const { code, stderr } = await check(address)
    assert.equal(code, 3)
    const told = `network 0: global_exit_root_manager ${address} has a wrong EIP-55 checksum: a digit is wrong, or it should be ${right}`
    assert.ok(stderr.includes(told), stderr)
  }
  for (const address of [right.toLowerCase(), `0x${right.slice(2).toUpperCase()}`])
    assert.equal((await check(address)).code, 0, address)
})

test('what a configuration holds that a terminal would obey is shown as escapes, which mean the same in TOML', async (t) => {
  const evil = EXAMPLE_TOML.replace('./data', '/tmp/no\u202efolder\u2066').replace(
    '"http://127.0.0.1:18545/secret-key"',
    '{ url = "http://127.0.0.1:18545/", alias = "b\u200fc\\u001b[2J" }',
  )
  const config = ['--config', fileWith(t, evil)]
  const printed = await bds(t, ['config', 'print', ...config])
  assert.match(printed.stdout, /^data_dir = "\/tmp\/no\\u202efolder\\u2066"/m)
  assert.match(printed.stdout, /alias = "b\\u200fc\\u001b\[2J"/)
  const again = await bds(t, [
    'config',
    'print',
    '--config',
    fileWith(t, printed.stdout.replace(/"\[redacted\]"/g, '"http://h/"')),
  ])
  const values = (text: string): string => text.replaceAll(/ {2}# (?:file|default)$/gm, '')
  assert.equal(values(again.stdout), values(printed.stdout))
  const { stdout } = await bds(t, ['reindex', '--network', '0', ...config])
  assert.equal(stdout, 'network 0 has no data in /tmp/no\\u202efolder\\u2066')
})

test('health ends with 0 for a service that answers 200, and with 5 for any other answer or none', async (t) => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/' ? 200 : 503
    response.end(request.url === '/evil' ? '\u001b[2Jone\ntwo\u202e' : `asked for ${request.url}`)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const good = await bds(t, ['health', '--url', `http://127.0.0.1:${port}/`])
  assert.deepEqual([good.code, good.stdout], [0, 'asked for /'])
  assert.equal((await bds(t, ['health', '--url', `http://127.0.0.1:${port}/readyz`])).code, 5)
  // What answers may be anything: a terminal obeys nothing in it.
  const evil = await bds(t, ['health', '--url', `http://127.0.0.1:${port}/evil`])
  assert.deepEqual([evil.code, evil.stdout], [5, '\\u001b[2Jone\ntwo\\u202e'])
  await new Promise((resolve) => server.close(resolve))
  const gone = await bds(t, ['health', '--url', `http://127.0.0.1:${port}/`])
  assert.deepEqual([gone.code, gone.stderr], [5, `bds: http://127.0.0.1:${port}/ does not answer`])
  const secret = await bds(t, [
    'health',
    '--url',
    `http://me:pass@127.0.0.1:${port}/readyz\u001b[2J?key=s3cret`,
  ])
  assert.equal(secret.stderr, `bds: http://127.0.0.1:${port}/readyz%1B[2J does not answer`)
})

test('health asks the operations port of the configuration, and flags override the file', async (t) => {
  const server = createServer((request, response) => response.end(`asked for ${request.url}`))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const configured = fileWith(t, EXAMPLE_TOML.replace('port = 9091', `port = ${port}`))
  const byFile = await bds(t, ['health', '--config', configured])
  assert.deepEqual([byFile.code, byFile.stdout, byFile.stderr], [0, 'asked for /', ''])
  const example = fileWith(t, EXAMPLE_TOML)
  const byFlag = await bds(t, ['health', '--config', example, '--ops-port', String(port)])
  assert.deepEqual([byFlag.code, byFlag.stdout], [0, 'asked for /'])
  const anyPort = await bds(t, ['health', '--config', example, '--ops-port', '0'])
  assert.deepEqual(
    [anyPort.code, anyPort.stderr],
    [2, 'bds: ops.port is 0, which is any free port: use --url\nTry: bds --help'],
  )
})

test('status reports an answer that is no sync status, with the URL that was asked', async (t) => {
  const server = createServer((request, response) => {
    if (request.headers.host?.startsWith('localhost')) response.end('<html>')
    else {
      response.statusCode = 404
      response.end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const told = async (host: string): Promise<unknown> => {
    const { code, stderr } = await bds(t, ['status', '--url', `http://${host}:${port}`])
    return [code, stderr.replace(`http://${host}:${port}`, 'URL')]
  }
  const question = "to /bridge/v1/sync-status: is this the API's address?"
  assert.deepEqual(await told('127.0.0.1'), [5, `bds: URL answered 404 ${question}`])
  assert.deepEqual(await told('localhost'), [5, `bds: URL answered something else ${question}`])
})

test('status and health ask the default address, or that of the flags, when there is no configuration', async (t) => {
  const port = await freePort()
  const asked = [
    ['status', '--http-port', String(port)],
    ['health', '--ops-port', String(port)],
  ]
  for (const args of asked) {
    const { code, stderr } = await bds(t, args)
    const path = args[0] === 'health' ? '/' : ''
    assert.deepEqual([code, stderr], [5, `bds: http://127.0.0.1:${port}${path} does not answer`])
  }
  // Whether a service runs at this machine's default ports is unknown: the test only expects no usage error.
  for (const verb of ['status', 'health']) assert.ok([0, 5].includes((await bds(t, [verb])).code!), verb)
})

test('run without a configuration file reports that, rather than missing networks', async (t) => {
  const { code, stderr } = await bds(t, ['run'])
  const mistake = 'no file was named: use --config FILE or BDS_CONFIG'
  assert.deepEqual([code, stderr], [3, `bds: 1 mistake in the configuration\n  - ${mistake}`])
})

test('doctor checks the configuration that BDS_CONFIG names', async (t) => {
  const environment = { BDS_CONFIG: '/nowhere/bds.toml' }
  const { code, stdout } = await bds(t, ['doctor', '--offline'], environment)
  assert.equal(code, 1)
  assert.match(stdout, /^FAIL {2}configuration: the file \/nowhere\/bds\.toml can't be read \(ENOENT\)$/m)
})

test('a command whose output has lost its reader still runs to its end, without a stack trace', async (t) => {
  const { child, exited, stderr } = startBds(t, ['doctor'])
  child.stdout!.destroy()
  assert.deepEqual(await exited, { code: 0, signal: null }, stderr.join('\n'))
  assert.deepEqual(stderr, [])
})

test('status --watch ends when its output has lost its reader', async (t) => {
  const server = createServer((_, response) => response.end('{"networks":[]}'))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { child, exited, stderr } = startBds(t, ['status', '--watch', '--url', `http://127.0.0.1:${port}`])
  child.stdout!.destroy()
  assert.deepEqual(await exited, { code: 0, signal: null }, stderr.join('\n'))
  assert.deepEqual(stderr, [])
})

test('start reports that anvil is not installed, and how to get it', async (t) => {
  const { code, stderr } = await bds(t, ['start', '--port', '0', '--ops-port', '0'], {
    ...withoutPackages(t, '@foundry-rs/anvil'),
    TMPDIR: tempFolder(t),
  })
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const anvil = `@foundry-rs/anvil@${manifest.peerDependencies['@foundry-rs/anvil']}`
  assert.deepEqual(
    [code, stderr],
    [1, `bds: the devnet needs anvil (43 MB), which is not installed: npm install ${anvil}`],
  )
})

test('run with http.transport = "uws" where no native build loads ends with 3 and says why', async (t) => {
  const args = ['run', '--config', fileWith(t, EXAMPLE_TOML), '--http-transport', 'uws']
  const { code, stdout, stderr } = await bds(t, args, {
    ...withoutPackages(t, 'uWebSockets.js'),
    BDS_DATA_DIR: join(tempFolder(t), 'data'),
  })
  assert.deepEqual([code, stdout], [3, ''])
  assert.match(
    stderr,
    /^bds: 1 mistake in the configuration\n {2}- http\.transport is uws, but no native build of uWebSockets\.js runs on [^\n]+: uWebSockets\.js-modern is not installed[^\n]*$/,
  )
})
