/** The release lines of aggkit that differ on the wire, oldest first. */
export const aggkitReleases = ['0.6', 'rc5', 'rc6', 'latest'] as const

export type AggkitRelease = (typeof aggkitReleases)[number]

/** Whether what is not there yet is a 404, as from v0.11.0-rc6 on; before, it was a 500. */
export function tellsNotYet(release: AggkitRelease): boolean {
  return release === 'latest' || release === 'rc6'
}
