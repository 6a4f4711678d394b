import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { freePort } from '../../support/freePort.js'
import { skipWithout } from '../../support/installedProgram.js'
import { startService } from '../../support/serviceProcess.js'
import { feedSeeds, followThrough, serveTrial } from '../service/feedTrial.js'
import { MAX_LOG_BYTES, NatsProcesses } from './natsProcesses.js'

const INSTANCES = 3

for (const seed of feedSeeds(1))
  test(`seed ${seed}: events of three services that share one log, now from this one, now from that, alone say what the lists of each hold`, {
    skip: skipWithout('nats-server'),
  }, async (context) => {
    const nats = await NatsProcesses.start(context, 1)
    const trial = await serveTrial(context, seed)
    const files: string[] = []
    const ports: number[] = []
    for (let at = 0; at < INSTANCES; at++) {
      const file = trial.configFile(`instance-${at}`)
      const cluster = `[cluster]
servers = ["${nats.addresses[0]}"]
replicas = 1
max_log_bytes = ${MAX_LOG_BYTES}
instance = "i${at}"
`
      writeFileSync(file, readFileSync(file, 'utf8').replace('[log]', `${cluster}\n[log]`))
      files.push(file)
      ports.push(await freePort())
    }
    const start = (at: number) =>
      startService(context, files[at]!, ['--http-port', String(ports[at]), '--log-level', 'warn'])
    await followThrough(context, { ...trial, ports, start })
  })
