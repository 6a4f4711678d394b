import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { BDS, startBds, startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'

/** Verbs whose output is no outcome: services, a script for a shell, and the devnet's, which is for people. */
const WITHOUT_OUTCOME = ['run', 'start', 'devnet', 'completion']
/** It asks NATS servers, which a service that is alone does not have: the tests of clusters read its documents. */
const OF_CLUSTERS = ['cluster']

test('with --json every command tells its outcome as one JSON document, and nothing else on standard output', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const folder = tempFolder(t)
  const service = await startService(t, file)
  await inStep(service, world)
  const config = ['--config', file]
  const beside: readonly string[][] = [
    ['config', 'check', ...config],
    ['config', 'print', ...config],
    ['health', '--url', `${service.opsUrl}/`],
    ['status', '--url', service.url],
    [
      'compare',
      ...config,
      ...['--base', `${service.url}/aggkit`, '--with', `${service.url}/aggkit`, '--dialect', 'aggkit'],
    ],
    ['doctor', ...config, '--offline'],
    ['verify', ...config, '--offline'],
    ['backup', ...config, '--to', join(folder, 'backup')],
    ['export', 'bridges', ...config, '--out', join(folder, 'bridges.ndjson')],
    ['version'],
  ]
  const alone: readonly string[][] = [
    ['rewind', ...config, '--network', '1', '--to-block', '1'],
    ['upgrade', ...config],
    ['reindex', ...config, '--network', '1', '--yes'],
    ['restore', '--config', configFile('copy'), '--from', join(folder, 'backup'), '--offline'],
    ['health', '--url', `${service.opsUrl}/`],
    ['config', 'check', '--config', join(folder, 'nowhere.toml')],
  ]
  const told = async (args: readonly string[]): Promise<number | null> => {
    const { exited, stdout, stderr } = startBds(t, [...args, '--json'])
    const { code } = await exited
    const what = `${args.join(' ')}: ${[...stdout, ...stderr].join('\n')}`
    assert.equal(stdout.length, 1, what)
    assert.equal(typeof JSON.parse(stdout[0]!), 'object', what)
    return code
  }
  for (const args of beside) assert.equal(await told(args), 0, args.join(' '))
  await service.kill('SIGTERM')
  const codes: (number | null)[] = []
  for (const args of alone) codes.push(await told(args))
  assert.deepEqual(codes, [0, 0, 0, 0, 5, 3], 'the codes are those without --json')

  const help = execFileSync(process.execPath, [BDS, '--help'], { encoding: 'utf8' })
  const verbs = [...help.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, verb]) => verb!)
  const walked = new Set([...beside, ...alone].map(([verb]) => verb!))
  assert.deepEqual([...walked, ...WITHOUT_OUTCOME, ...OF_CLUSTERS].toSorted(), verbs.toSorted())
})
