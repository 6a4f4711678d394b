import { longAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

testAttacks(longAttacks)
