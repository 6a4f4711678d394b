import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explorerPage } from '../../../src/http/explorerPage.js'
import type { Target } from '../../../src/http/targets.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

const quiet = { warn: () => undefined }

function textOf(target: Target | undefined): string {
  assert.equal(target?.type, 'document')
  return Buffer.from(target.answers.identity.body).toString()
}

test('where the page is switched off, nothing of it is served', (context) => {
  const config = loadedConfig(tempFolder(context))
  const page = explorerPage({ ...config, explorer: { ...config.explorer, enabled: false } }, quiet)
  assert.deepEqual(page.files, [])
  assert.equal(page.find('/explorer'), undefined)
})

test('at every depth the page finds its files beside it, whatever a proxy puts in front', (context) => {
  const { find, files } = explorerPage(loadedConfig(tempFolder(context)), quiet)
  for (const path of [
    '/explorer',
    '/explorer/',
    '/explorer/bridges',
    '/explorer/bridge/1/25',
    '/explorer/tx/0x12',
  ])
    for (const front of ['', '/some/where']) {
      const sources = [...textOf(find(path)).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)
      assert.equal(sources.length, 3)
      for (const source of sources) {
        const { pathname } = new URL(source, `http://host${front}${path}`)
        assert.ok(pathname.startsWith(front), pathname)
        assert.ok(
          files.some((file) => file.path === pathname.slice(front.length)),
          pathname,
        )
      }
    }
})

test('what is not the page is not found', (context) => {
  const { find } = explorerPage(loadedConfig(tempFolder(context)), quiet)
  for (const path of [
    '/',
    '/explorers',
    '/bridge/v1/explorer',
    '/explorer/assets/none.js',
    '/explorer/a/b/c/d',
  ])
    assert.equal(find(path), undefined, path)
})

test('the policy names the public endpoints by their origins alone, and the page holds its settings as text', (context) => {
  const config = loadedConfig(tempFolder(context))
  const [first, ...others] = config.networks
  const title = `"><script>alert('1')</script>`
  const page = explorerPage(
    {
      ...config,
      explorer: { ...config.explorer, title },
      networks: [{ ...first!, name: title, publicRpc: 'https://rpc.example.org/some/path' }, ...others],
    },
    quiet,
  )
  const target = page.find('/explorer')
  const html = textOf(target)
  assert.equal(html.match(/<script/g)?.length, 1)
  const content = /name="page-settings" content="([^"]*)"/.exec(html)![1]!
  const settings = JSON.parse(content.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))))
  assert.equal(settings.title, title)
  assert.equal(settings.networks[0].name, title)
  assert.ok(target?.type === 'document')
  const policy = /Content-Security-Policy: ([^\r]*)/.exec(target.answers.identity.bodyLines)![1]!
  assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; /)
  assert.match(policy, /; connect-src 'self' https:\/\/rpc\.example\.org; /)
  assert.match(policy, /; frame-ancestors 'none'$/)
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*/)
})
