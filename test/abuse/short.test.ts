import { shortAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

// Those that `.ci/run` runs.
testAttacks(shortAttacks)
