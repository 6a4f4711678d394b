#!/usr/bin/env node
// Fails in one line when a port of `npm start` is taken, before the build, which takes most of a minute. Usage: freePorts.mjs [flags of bds start]
import { createServer } from 'node:net'

/** Flags and defaults are those of `bds start`, which looks again. */
const PORTS = { port: 5577, 'ops-port': 9091 }

for (const [flag, usual] of Object.entries(PORTS)) {
  const port = Number(givenFor(flag) ?? usual)
  if (!(Number.isInteger(port) && port > 0 && port <= 65_535)) continue
  const fault = await faultOf(port)
  if (fault === undefined) continue
  console.error(
    `port ${port} ${fault}: choose another one with --${flag} N, or any free one with --${flag} 0`,
  )
  process.exit(1)
}

function givenFor(flag) {
  const args = process.argv.slice(2)
  const joined = args.find((arg) => arg.startsWith(`--${flag}=`))
  if (joined !== undefined) return joined.slice(flag.length + 3)
  const at = args.indexOf(`--${flag}`)
  return at < 0 ? undefined : args[at + 1]
}

function faultOf(port) {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }) =>
      resolve({ EADDRINUSE: 'is taken', EACCES: 'may not be used by this user' }[code]),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
}
