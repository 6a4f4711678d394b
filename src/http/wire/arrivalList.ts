/** An item of one `ArrivalList`. Only the list writes these fields. */
export interface Listed<Item> {
  before: Item | undefined
  after: Item | undefined
}

/**
 * Items in order of arrival, any of which can be removed. A `Set` does the same, but hashes each object and copies its table
 * now and then.
 */
export class ArrivalList<Item extends Listed<Item>> {
  size = 0
  first: Item | undefined
  private last: Item | undefined

  /** @param item one that is not in the list. */
  add(item: Item): void {
    item.before = this.last
    item.after = undefined
    if (this.last === undefined) this.first = item
    else this.last.after = item
    this.last = item
    this.size++
  }

  /** @param item one that is in the list. */
  remove(item: Item): void {
    const { before, after } = item
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.last = before
    else after.before = before
    item.before = undefined
    item.after = undefined
    this.size--
  }
}
