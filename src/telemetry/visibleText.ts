import { withoutSecrets } from './secrets.js'

/** Characters that a terminal obeys or that change the order of what it shows: control characters, line separators, directions. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Text as one line that shows every character that it has. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** The same for JSON, which still means the same afterwards: line breaks stand between its values only. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, (sign) => (sign < ' ' ? sign : escaped(sign)))
}

/** Text of several lines for a terminal, without secrets. */
export function visibleLines(text: string): string {
  return withoutSecrets(text).split('\n').map(visibleText).join('\n')
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}
