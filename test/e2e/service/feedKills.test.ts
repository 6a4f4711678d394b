import { test } from 'node:test'
import { freePort } from '../../support/freePort.js'
import { RandomWorld } from '../../support/randomWorld.js'
import { startService } from '../../support/serviceProcess.js'
import { serveWorld } from '../../support/serviceWorld.js'
import { feedSeeds, followThrough } from './feedTrial.js'

for (const seed of feedSeeds(2))
  test(`seed ${seed}: over both protocols the events alone say what the lists hold, though the service is killed and connections break`, async (context) => {
    const source = new RandomWorld(seed)
    for (let steps = 20; steps > 0; steps--) source.step()
    const configFile = (await serveWorld(context, source.world)).configFile('followed')
    const port = await freePort()
    const args = ['--http-port', String(port), '--log-level', 'warn']
    const start = () => startService(context, configFile, args)
    await followThrough(context, { seed, source, ports: [port], start })
  })
