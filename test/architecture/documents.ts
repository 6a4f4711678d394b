import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** A page of the project: its path below the root, and its text. */
export interface Page {
  readonly file: string
  readonly text: string
}

const FOLDERS_OF_OTHERS = ['node_modules', 'dist', '.git']

/** Every Markdown page below `root`. */
export function readPages(root: string): Page[] {
  const pages: Page[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !FOLDERS_OF_OTHERS.includes(entry.name)) visit(path)
      else if (entry.name.endsWith('.md'))
        pages.push({ file: relative(root, path), text: readFileSync(path, 'utf8') })
    }
  }
  visit(root)
  return pages
}

/** Relative links that lead to no file, or to no heading in it: `README.md: docs/none.md`. */
export function brokenLinks(root: string, pages: readonly Page[]): string[] {
  return pages.flatMap(({ file, text }) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target) && !leads(root, file, target))
      .map((target) => `${file}: ${target}`),
  )
}

function leads(root: string, from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const place = path === '' ? join(root, from) : join(root, dirname(from), path)
  if (!existsSync(place)) return false
  if (anchor === undefined) return true
  return statSync(place).isFile() && anchorsOf(readFileSync(place, 'utf8')).has(anchor)
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of withoutFences(text).matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    for (let n = 0; ; n++) {
      const anchor = n === 0 ? slug : `${slug}-${n}`
      if (anchors.has(anchor)) continue
      anchors.add(anchor)
      break
    }
  }
  return anchors
}

/** Places in `src/` and `test/` that a page names and that do not exist: `docs/architecture.md: src/none.ts`. */
export function missingPaths(root: string, pages: readonly Page[]): string[] {
  return pages.flatMap(({ file, text }) =>
    [...text.matchAll(/(?<![\w/.-])(?:src|test)\/[\w/.-]*[\w/]/g)]
      .map(([path]) => path)
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${file}: ${path}`),
  )
}

/** Names that a page places in a file, as in `src/a.ts`: `b`, and that are not defined in that file. */
export function missingNames(root: string, pages: readonly Page[]): string[] {
  return pages.flatMap(({ file, text }) =>
    [...text.matchAll(/`((?:src|test)\/[\w/.-]+\.ts)`: ((?:`#?\w+`(?:, )?)+)/g)].flatMap(
      ([, path, names]) => {
        const source = existsSync(join(root, path!)) ? readFileSync(join(root, path!), 'utf8') : ''
        return [...names!.matchAll(/`(#?\w+)`/g)]
          .map(([, name]) => name!)
          .filter((name) => !new RegExp(`(?<![\\w#])${name}\\b`).test(source))
          .map((name) => `${file}: ${path} has no ${name}`)
      },
    ),
  )
}

/** Scripts that a page tells the reader to run and `package.json` lacks: `README.md: npm run none`. */
export function unknownScripts(pages: readonly Page[], scripts: Readonly<Record<string, string>>): string[] {
  return pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\bnpm run ([a-z][a-z0-9:-]*)/g)]
      .filter(([, script]) => scripts[script!] === undefined)
      .map(([told]) => `${file}: ${told}`),
  )
}

function withoutFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}

function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]*`/g, '')
}
