/** What `storeQueryWorker` does with its snapshot around a task. */
export type SnapshotCare = 'both ends' | 'only at the start' | 'none'

/** Key in table `meta` of the number that `storeQueryWorker` answers with. */
export const VALUE_KEY = Uint8Array.of(0xee)
