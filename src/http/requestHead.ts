import type { HttpRequest } from './uws.js'

/**
 * The headers that the service uses, read in one walk over all headers of a request. `getHeader` would not do: it returns only
 * the first of several headers, and '' for an empty as for an absent one, while an empty `Content-Length` must be noticed. The
 * walk takes about 0.1 µs per header; with three headers that is as fast as four `getHeader` calls (November 2026, Node 20).
 */
export class RequestHead {
  requestId = ''
  connection = ''
  ifNoneMatch = ''
  acceptEncoding = ''
  /**
   * Whether something may follow the head: a `Transfer-Encoding`, or any `Content-Length` but one `0`. Servers and proxies
   * disagree on how long that is, and what one takes for a body is another one's next request.
   */
  mayHaveBody = false
  private hasLength = false

  /** Valid until the next call: one object serves all requests. */
  read(req: HttpRequest): this {
    this.requestId = ''
    this.connection = ''
    this.ifNoneMatch = ''
    this.acceptEncoding = ''
    this.mayHaveBody = false
    this.hasLength = false
    req.forEach(this.take)
    return this
  }

  private readonly take = (name: string, value: string): void => {
    // Most names are told apart by their length, which is at hand.
    switch (name.length) {
      case 10:
        if (this.connection === '' && name === 'connection') this.connection = value
        return
      case 12:
        if (this.requestId === '' && name === 'x-request-id') this.requestId = value
        return
      case 13:
        if (this.ifNoneMatch === '' && name === 'if-none-match') this.ifNoneMatch = value
        return
      case 14:
        if (name !== 'content-length') return
        if (this.hasLength || value !== '0') this.mayHaveBody = true
        this.hasLength = true
        return
      case 15:
        if (this.acceptEncoding === '' && name === 'accept-encoding') this.acceptEncoding = value
        return
      case 17:
        if (name === 'transfer-encoding') this.mayHaveBody = true
    }
  }
}
