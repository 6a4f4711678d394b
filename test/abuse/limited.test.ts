import { limitedAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

// The attacker's address has a bucket of its own, and a small one, so that nearly all of its requests are refused; other clients are not limited.
testAttacks(limitedAttacks, {
  settings: '[rate_limit]\ntokens_per_second = 1\nburst = 10\nallow = ["127.0.0.0/24"]',
})
