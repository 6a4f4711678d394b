import { test } from 'node:test'
import { freePort } from '../../support/freePort.js'
import { startService } from '../../support/serviceProcess.js'
import { feedSeeds, followThrough, serveTrial } from './feedTrial.js'

for (const seed of feedSeeds(2))
  test(`seed ${seed}: over both protocols the events alone say what the lists hold, though the service is killed, connections break and a network starts over`, async (context) => {
    const trial = await serveTrial(context, seed)
    const configFile = trial.configFile('followed')
    const port = await freePort()
    const args = ['--http-port', String(port), '--log-level', 'warn']
    const start = () => startService(context, configFile, args)
    await followThrough(context, { ...trial, ports: [port], start })
  })
