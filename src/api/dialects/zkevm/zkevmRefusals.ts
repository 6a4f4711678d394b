import type { AnswerCode, Failure } from '../../../query/answers.js'
import { errorTable } from '../../errorTable.js'
import type { Refusal } from '../frame/dialect.js'
import { goJson } from '../frame/goParameters.js'

/** How grpc-gateway says no. Clients take a body with a `code` for a failure, and look at little else. */

/** Codes of gRPC. What a handler refuses is 2, whatever it is. */
const codes: { readonly [C in AnswerCode]?: number } = {
  INVALID_PARAMETER: 3,
  URI_TOO_LONG: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RATE_LIMIT_EXCEEDED: 8,
  METHOD_NOT_ALLOWED: 12,
  SERVICE_UNAVAILABLE: 14,
}

const UNKNOWN = 2

const ROOT_UNKNOWN = 'l1GER not found in the Storage'

function textOf({ code, message, lacking }: Failure): string {
  switch (code) {
    case 'BRIDGE_NOT_FOUND':
    case 'INVALID_NETWORK_ID':
      return 'not found in the Storage'
    case 'PROOF_NOT_AVAILABLE':
      return lacking === 'global_exit_root' ? ROOT_UNKNOWN : 'not synchronized deposit'
    case 'NOT_FOUND':
      return 'Not Found'
    case 'METHOD_NOT_ALLOWED':
      return 'Method Not Allowed'
    default:
      return message
  }
}

function statusOf({ code }: Failure): number {
  if (code === 'METHOD_NOT_ALLOWED') return 501
  return codes[code] === undefined ? 500 : errorTable[code].status
}

export function refuse(failed: Failure): Refusal {
  return {
    status: statusOf(failed),
    body: goJson({ code: codes[failed.code] ?? UNKNOWN, message: textOf(failed), details: [] }),
    contentType: 'application/json; charset=utf-8',
  }
}
