import { readdirSync, readFileSync } from 'node:fs'
import type { Metafile } from 'esbuild'

/** The licences of the packages that bundled code is from. */
export function licencesOf(from: readonly Metafile[]): string {
  const files = from.flatMap(({ inputs }) => Object.keys(inputs))
  const folders = new Set(
    files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  )
  return [...new Set([...folders].map(licenceOf))].sort().join('\n---\n\n')
}

function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
    name: string
    license?: string
  }
  const text = file === undefined ? (manifest.license ?? '') : readFileSync(`${folder}/${file}`, 'utf8')
  return `${manifest.name}\n\n${text.trim()}\n`
}
