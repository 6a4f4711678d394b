import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Loaded before a `bds restore` (`--import`): kills it before its n-th change of the data folder, counted from the marker that says that
 * stores are being replaced. `KILL_BEFORE` is n; 1 writes the marker, 2 gives it its name.
 */
const killBefore = Number(process.env.KILL_BEFORE)
let step = 0

function counted<Args extends unknown[], Result>(
  change: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    if (step > 0 || String(args[0]).endsWith('/placing.partial')) step++
    if (step === killBefore) process.kill(process.pid, 'SIGKILL')
    return change(...args)
  }
}

promises.writeFile = counted(promises.writeFile)
promises.rename = counted(promises.rename)
promises.rm = counted(promises.rm)
fs.rmSync = counted(fs.rmSync)
fs.rmdirSync = counted(fs.rmdirSync)
syncBuiltinESMExports()
