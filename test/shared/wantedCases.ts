/**
 * Which cases of a matrix run: those marked as short; with `BDS_TEST_CASES=all` every one; with any other value those
 * whose title matches it as a regular expression.
 */
export function isWanted(title: string, isShort: boolean): boolean {
  const wanted = process.env.BDS_TEST_CASES
  if (wanted === undefined || wanted === '') return isShort
  return wanted === 'all' || new RegExp(wanted).test(title)
}
