/** What somebody has typed or pasted into the search box, as a path of the page. */

const HASH = /(?:^|[^0-9a-z])(0x[0-9a-f]{64})(?![0-9a-f])/i
const ADDRESS = /(?:^|[^0-9a-z])(0x[0-9a-f]{40})(?![0-9a-f])/i

/**
 * Takes hashes and addresses with blanks, in any letter case, without `0x`, and inside the address of any explorer's page; `1:25` for a deposit; a
 * global index.
 * @returns undefined for what can't be looked up.
 */
export function readSearch(text: string): string | undefined {
  const whole = text.replace(/\s+/g, '').replace(/^(?=[0-9a-f]{64}$)|^(?=(?=.*[a-f])[0-9a-f]{40}$)/i, '0x')
  const bridge = /^(?:.*\/bridge\/)?(\d{1,10})[:/#](\d{1,10})\/?$/.exec(whole)
  if (bridge !== null) return `bridge/${Number(bridge[1])}/${Number(bridge[2])}`
  const hash = HASH.exec(whole)?.[1]
  if (hash !== undefined) return `tx/${hash.toLowerCase()}`
  const address = ADDRESS.exec(whole)?.[1]
  if (address !== undefined) return `address/${address.toLowerCase()}`
  if (/^\d{1,78}$|^0x[0-9a-f]{1,63}$/i.test(whole)) return `search?q=${whole.toLowerCase()}`
  return undefined
}
