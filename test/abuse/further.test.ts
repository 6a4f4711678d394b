import { furtherAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

testAttacks(furtherAttacks)
