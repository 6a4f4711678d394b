/**
 * The process can't start or go on, for a reason that its operator can find and change, such as a port in use.
 * It is reported in one line, without a stack.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
