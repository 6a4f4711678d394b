import SwaggerUi from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** The page at `/docs`: shows the OpenAPI document of this very service, and asks it. */

const api = new URL('../..', import.meta.url).href.replace(/\/$/, '')

/** As the system has it; the stylesheet knows this class. */
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = (): boolean => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

const docs = document.getElementById('docs')!

const REGIONS = [
  ['.information-container', 'About this API'],
  ['.scheme-container', 'Server'],
] as const

/** What Swagger UI leaves out for those who use a keyboard or a screen reader. */
function mend(): void {
  for (const block of docs.querySelectorAll('pre')) block.tabIndex = 0
  docs.querySelector('#servers')?.setAttribute('aria-label', 'Server')
  for (const [place, name] of REGIONS) {
    const region = docs.querySelector(place)
    region?.setAttribute('role', 'region')
    region?.setAttribute('aria-label', name)
  }
}
new MutationObserver(mend).observe(docs, { childList: true, subtree: true })

/** Back to where people come from, unless the configuration has switched it off. */
async function linkExplorer(): Promise<void> {
  const { ok } = await fetch(`${api}/explorer`, { method: 'HEAD' })
  if (!ok) return
  const way = document.createElement('nav')
  way.setAttribute('aria-label', 'Pages')
  const link = document.createElement('a')
  link.href = `${api}/explorer`
  link.textContent = 'Explorer: bridges, claims and proofs as a page'
  way.append(link)
  docs.before(way)
}
void linkExplorer()

const response = await fetch(`${api}/openapi.json`)
const spec = (await response.json()) as object

SwaggerUi({
  // A proxy may put a path in front of the service, which the document does not know.
  spec: { ...spec, servers: [{ url: api, description: 'This service' }] },
  domNode: docs,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
  // Swagger UI draws a closed lock beside each operation whose key is optional. A key is entered above them, where there are any.
  plugins: [{ components: { authorizeOperationBtn: () => null } }],
})
