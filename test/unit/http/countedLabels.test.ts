import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorTable } from '../../../src/api/errorTable.js'
import type { HealthSource } from '../../../src/health/healthSource.types.js'
import { countedLabels } from '../../../src/http/countedLabels.js'
import { staticDocuments } from '../../../src/http/docsPage.js'
import { createTargets } from '../../../src/http/targets.js'
import { NO_NETWORKS } from '../../support/sampleRecords.js'

test('every route that is served, and every status that is answered, is counted by its name', () => {
  const nobodyAsks = (): never => assert.fail()
  const health: HealthSource = { health: nobodyAsks, syncStatus: nobodyAsks, readiness: nobodyAsks }
  const targets = createTargets(health, staticDocuments(false), nobodyAsks, NO_NETWORKS)
  const routes = new Set([...targets.values()].map(({ route }) => route))
  assert.ok(routes.size > 10, `${routes.size}`)
  for (const route of routes) assert.ok(countedLabels.routes.includes(route), route)
  for (const { status } of Object.values(errorTable)) assert.ok(countedLabels.statuses.includes(status))
  assert.equal(new Set(countedLabels.routes).size, countedLabels.routes.length)
})
