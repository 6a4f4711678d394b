#!/usr/bin/env node
import { readFileSync } from 'node:fs'

/** With fewer open files Node can't load the program. */
const FEWEST_FILES = 80

/** The limit of open files, as far as a descriptor is left to ask for it. */
function limitOfFiles(): string {
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))![1]!
  } catch {
    return 'too low'
  }
}

try {
  // The build makes a few files of the program: loading its modules one by one took most of a start's CPU time.
  await import(new URL('../../bundle/threads/program.js', import.meta.url).href)
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
  console.error(
    `bds: too many open files: their limit is ${limitOfFiles()}, and the program alone needs ${FEWEST_FILES}: raise the hard limit with ulimit -n, LimitNOFILE or --ulimit nofile; \`bds doctor\` then says how many the service needs`,
  )
  process.exitCode = 1
}
