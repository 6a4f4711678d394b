import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { benchRoot, installRivals, requireRival } from '../micro/project.js'

export type SqliteValue = string | number | null

/** The part of better-sqlite3 that is used. */
export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): unknown
  get(...values: readonly SqliteValue[]): Record<string, unknown> | undefined
  all(...values: readonly SqliteValue[]): Record<string, unknown>[]
}

export interface SqliteDatabase {
  exec(sql: string): unknown
  pragma(text: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}

/** Installs the rivals, and compiles SQLite on first use: some minutes. Node's own headers are used where they are installed. */
export function installSqlite(): void {
  installRivals()
  if (existsSync(join(benchRoot, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'))) return
  console.error('compiling SQLite: some minutes, once')
  const prefix = dirname(dirname(process.execPath))
  const headers = existsSync(join(prefix, 'include/node/node_api.h')) ? { npm_config_nodedir: prefix } : {}
  const { status } = spawnSync('npm', ['rebuild', 'better-sqlite3'], {
    cwd: benchRoot,
    stdio: 'inherit',
    // The project's .npmrc keeps packages from running code; this one has to be compiled.
    env: {
      ...process.env,
      npm_config_ignore_scripts: 'false',
      npm_config_build_from_source: 'true',
      ...headers,
    },
  })
  if (status !== 0)
    throw new Error(`better-sqlite3 did not compile (status ${status}): --no-rival does without it`)
}

export function openDatabase(path: string, pragmas: readonly string[]): SqliteDatabase {
  // better-sqlite3 has no types.
  const Database = requireRival('better-sqlite3') as new (path: string) => SqliteDatabase
  const database = new Database(path)
  for (const pragma of pragmas) database.pragma(pragma)
  return database
}

/**
 * Refuses a statement that scans a table or a whole index, or sorts what it found. It may scan the rows of a page that was chosen
 * already, and a row of constants.
 * @throws when the plan is not made of searches only.
 */
export function assertSearches(database: SqliteDatabase, sql: string, values: readonly SqliteValue[]): void {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { readonly detail: string }[]
  let searches = 0
  for (const { detail } of steps) {
    if (detail.startsWith('SEARCH ')) searches++
    else if (/^(SCAN (?!page$|CONSTANT ROW$)|USE TEMP B-TREE)/.test(detail))
      throw new Error(`SQLite would not search but ${detail}: ${sql}`)
  }
  if (searches === 0) throw new Error(`SQLite searches no index: ${sql}`)
}
