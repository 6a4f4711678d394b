import { jsonWithoutSecrets, withoutSecrets } from './secrets.js'

/**
 * Characters that a terminal obeys, that change the order of what it shows, or that show nothing: control and format characters,
 * directions among them, line separators, fillers, and halves of a character.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu

/** Text as one line that shows every character that it has. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** The same for JSON, which still means the same afterwards: line breaks stand between its values only, where a terminal would obey CR. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, (sign) => (sign === '\r' ? ' ' : sign < ' ' ? sign : escaped(sign)))
}

/** The same for text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n')
}

/** Text of several lines for a terminal, without secrets: for all that an error or another machine may have worded. */
export function publicLines(text: string): string {
  return visibleLines(withoutSecrets(text))
}

/** A value as one line of JSON for a terminal, without secrets. */
export function publicJson(value: unknown): string {
  return visibleJson(jsonWithoutSecrets(JSON.stringify(value)))
}

/** One escape for each UTF-16 unit, as JSON has it. */
function escaped(sign: string): string {
  return sign
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
