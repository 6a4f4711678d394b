import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRollsUnderLoad, deployed, runProxy, startTwoInstances } from '../proxies/proxyWorld.js'
import { freePort } from '../support/freePort.js'
import { skipWithout } from '../support/installedProgram.js'
import { tempFolder } from '../support/tempFolder.js'

const rules = { skip: skipWithout('envoy'), timeout: 200_000 }

test(
  'Envoy with deploy/envoy.yaml: a rolling restart under load fails no request',
  rules,
  async (context) => {
    const instances = await startTwoInstances(context)
    const port = await freePort()
    const file = join(tempFolder(context), 'envoy.yaml')
    const spelling = (of: number): string => `{ address: 127.0.0.1, port_value: ${of} }`
    writeFileSync(file, deployed('envoy.yaml', port, instances.ports, spelling))
    await runProxy(context, 'envoy', ['-c', file, '--log-level', 'error', '--disable-hot-restart'], port)
    await assertRollsUnderLoad(port, instances)
  },
)
