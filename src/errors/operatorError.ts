/**
 * The process can't start or go on for a reason that its operator can see and change, a port that is taken for one.
 * Told in one line, without a stack.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
