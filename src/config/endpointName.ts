const LETTERS = 26

/**
 * Name of an endpoint that says nothing of who runs it: `1-a` is the first one of network 1, the 27th is `1-aa`. It is the alias of an
 * endpoint that has none, and what the public is told of any.
 * @param position from 0 on, in `networks[].rpc`.
 */
export function endpointName(networkId: number, position: number): string {
  const last = String.fromCharCode('a'.charCodeAt(0) + (position % LETTERS))
  const first =
    position < LETTERS ? '' : String.fromCharCode('a'.charCodeAt(0) - 1 + Math.floor(position / LETTERS))
  return `${networkId}-${first}${last}`
}
