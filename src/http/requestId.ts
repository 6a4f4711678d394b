import { randomBytes } from 'node:crypto'

/** What a log line and a header can carry as it is; anything else that a client sends is ignored. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

const processPart = randomBytes(6).toString('hex')
let counter = 0

/** The client's own id when it is fit to be echoed and logged, else ''. */
export function acceptRequestId(header: string): string {
  return header !== '' && ACCEPTABLE.test(header) ? header : ''
}

/** A new id, unique among all processes of a fleet for all that matters. */
export function makeRequestId(): string {
  counter++
  return `${processPart}-${counter.toString(36)}`
}
