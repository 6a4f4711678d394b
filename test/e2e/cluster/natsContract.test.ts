import { after } from 'node:test'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { holdsClusterContract } from '../../support/clusterContract.js'
import { skipWithout } from '../../support/installedProgram.js'
import { NatsProcesses } from './natsProcesses.js'

const skip = skipWithout('nats-server')
const maxLogBytes = 1_000_000
const processes = skip === false ? await NatsProcesses.start({ after }, 3) : undefined

holdsClusterContract(
  'three nats-servers',
  () => ({ clock: systemClock, maxLogBytes, member: () => processes!.member(maxLogBytes) }),
  skip,
)
