import type { Config } from '../../src/config/config.types.js'
import { usableCores } from '../../src/telemetry/cores.js'
import {
  assumed,
  checkTable,
  growthTable,
  type MeasuredOperation,
  modelGrowth,
  timesTable,
} from '../growth/growthTables.js'
import { type CurvePoint, curveTable, measureCurve } from './cellCurve.js'
import type { CellStand } from './cellStand.js'
import { connectionSpread } from './connectionSpread.js'
import type { BenchOperation } from './operations.js'
import { measureServiceTimes } from './serviceTimes.js'

/** Operations of the curve, and how many requests the budget of bytes lets into a batch (`src/pool/requestLanes.ts`). */
const MOST_PER_BATCH: Readonly<Record<string, number>> = {
  'bridge by deposit count': 256,
  'claim-proof': 131,
  'page of 100 bridges': 6,
}

/** The curve over numbers of cells on this machine, and the model's curve beyond it. */
export async function cellReport(
  stand: CellStand,
  operations: readonly BenchOperation[],
  config: Config,
): Promise<string> {
  const curve: CurvePoint[] = []
  const measured: MeasuredOperation[] = []
  const chosen = operations.filter(({ name }) => Object.hasOwn(MOST_PER_BATCH, name))
  for (const operation of chosen) {
    curve.push(...(await measureCurve(stand, operation)))
    const times = await measureServiceTimes(stand, operation)
    measured.push({ name: operation.name, mostPerBatch: MOST_PER_BATCH[operation.name]!, times })
  }
  const cores = usableCores()
  return [
    `### Cells, ${stand.connectionsPerCell} connections for each`,
    curveTable(curve),
    `### ${chosen[0]!.name}: the same connections on more cells`,
    await connectionSpread(stand, chosen[0]!),
    '### What the model of growth is given',
    timesTable(measured),
    `### Modelled to 64 cores, ${assumed.connectionsPerCell} connections for each cell`,
    growthTable(modelGrowth(measured, config)),
    `### The model held against the measurement: ${cores} cores, on which the load generator runs as well`,
    checkTable(measured, curve, { ...stand, cores }),
  ].join('\n\n')
}
