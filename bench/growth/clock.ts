interface Event {
  readonly atUs: number
  /** Events of one moment happen in the order in which they were asked for. */
  readonly order: number
  readonly action: () => void
}

/** The time of a simulation: it jumps from event to event. */
export class Clock {
  nowUs = 0
  /** A binary heap, the next event first. */
  private readonly events: Event[] = []
  private order = 0

  after(delayUs: number, action: () => void): void {
    const event = { atUs: this.nowUs + delayUs, order: this.order++, action }
    const { events } = this
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(events[parent]!, event)) break
      events[at] = events[parent]!
      at = parent
    }
    events[at] = event
  }

  /** Lets events happen until there are none left or `isOver`. */
  run(isOver: () => boolean): void {
    while (this.events.length > 0 && !isOver()) {
      const { atUs, action } = this.takeNext()
      this.nowUs = atUs
      action()
    }
  }

  private takeNext(): Event {
    const { events } = this
    const next = events[0]!
    const last = events.pop()!
    if (events.length === 0) return next
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= events.length) break
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child++
      if (isBefore(last, events[child]!)) break
      events[at] = events[child]!
      at = child
    }
    events[at] = last
    return next
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order)
}
