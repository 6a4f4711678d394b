import { dialectLabels } from '../api/dialects/dialects.js'
import { errorTable } from '../api/errorTable.js'
import { operationIds, probeRoutes, routes, socketRoutes, streamRoutes } from '../api/routes.js'
import type { CountLabels } from '../telemetry/frontCounts.js'
import { documentRoutes } from './documents.js'

/** The routes, methods and statuses that requests are counted by. All others share one place each. */
export const countedLabels: CountLabels = {
  paths: {
    ...Object.fromEntries(operationIds.map((id) => [id, routes[id].path])),
    ...Object.fromEntries(Object.entries(probeRoutes).map(([id, { paths }]) => [id, paths[0]])),
    getEvents: streamRoutes.getEvents.path,
    getEventSocket: socketRoutes.getEventSocket.path,
    getOpenApi: '/openapi.json',
    getDocs: '/docs',
    getExplorer: '/explorer',
    ...dialectLabels,
  },
  routes: [
    'unknown',
    ...operationIds,
    ...Object.keys(streamRoutes),
    ...Object.keys(socketRoutes),
    ...Object.keys(probeRoutes),
    ...documentRoutes,
    ...Object.keys(dialectLabels),
  ],
  methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'TRACE'],
  statuses: [101, 200, 204, 302, 304, ...new Set(Object.values(errorTable).map(({ status }) => status))],
}
