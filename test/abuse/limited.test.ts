import { limitedAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

// The attacker's address has a bucket of its own; the other clients are never limited.
testAttacks(limitedAttacks, {
  settings: '[rate_limit]\ntokens_per_second = 50\nburst = 200\nallow = ["127.0.0.0/24"]',
})
