import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { probeRoutes, routes } from '../../../../src/api/routes.js'
import { wireModule } from '../../../../src/client/generate/wireModule.js'

test('src/client/wireDefinition.ts is what `npm run generate:client` makes of the definitions', () => {
  assert.equal(read('src/client/wireDefinition.ts'), wireModule())
})

test('docs/client.md names the method of each endpoint, and no others', () => {
  const page = read('docs/client.md')
  const [, section] = /\n## Endpoints\n([\s\S]*?)```ts/.exec(page)!
  const named = [...section!.matchAll(/`(get\w+)`/g)].map(([, name]) => name!)
  assert.deepEqual(named.toSorted(), Object.keys({ ...routes, ...probeRoutes }).toSorted())
})

function read(file: string): string {
  return readFileSync(new URL(`../../../../../${file}`, import.meta.url), 'utf8')
}
