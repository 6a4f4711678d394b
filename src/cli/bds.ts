#!/usr/bin/env node

// The build makes a few files of the program: loading its modules one by one took most of a start's CPU time.
await import(new URL('../../bundle/threads/program.js', import.meta.url).href)
