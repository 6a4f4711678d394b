import { memoryAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

testAttacks(memoryAttacks)
