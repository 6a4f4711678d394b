import { connectionAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

// The service needs 1,216 to start.
testAttacks(connectionAttacks, { openFiles: 2_000 })
