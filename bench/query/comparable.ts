/** An answer without its cursor, which the rival does not have. */
export function comparable(body: string | Uint8Array): unknown {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const answer = JSON.parse(text) as { readonly pagination?: Record<string, unknown> }
  delete answer.pagination?.next_cursor
  return answer
}
