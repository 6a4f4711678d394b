import SwaggerUi from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** The page at `/docs`: shows the OpenAPI document of this very service, and asks it. */

const api = new URL('../..', import.meta.url).href.replace(/\/$/, '')

/** As the system has it; the stylesheet knows this class. */
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = (): boolean => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

const response = await fetch(`${api}/openapi.json`)
const spec = (await response.json()) as object

SwaggerUi({
  // A proxy may put a path in front of the service, which the document does not know.
  spec: { ...spec, servers: [{ url: api, description: 'This service' }] },
  domNode: document.getElementById('docs')!,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
})
