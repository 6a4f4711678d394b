import type { Clock } from './clock.js'

/** A piece of work of one thread. */
interface Work {
  /** Called when a core is free for it. @returns how long it takes. */
  begin(): number
  end(): void
}

/** Cores on which work runs in the order in which it came, each piece without interruption. */
export class Cores {
  private readonly clock: Clock
  private free: number
  private waiting: Work[] = []
  private head = 0

  constructor(clock: Clock, count: number) {
    this.clock = clock
    this.free = count
  }

  add(work: Work): void {
    if (this.free === 0) this.waiting.push(work)
    else {
      this.free--
      this.run(work)
    }
  }

  private run(work: Work): void {
    this.clock.after(work.begin(), () => {
      const next = this.takeWaiting()
      if (next === undefined) this.free++
      else this.run(next)
      work.end()
    })
  }

  private takeWaiting(): Work | undefined {
    const next = this.waiting[this.head]
    if (next === undefined) return undefined
    this.head++
    if (this.head > 1024) {
      this.waiting = this.waiting.slice(this.head)
      this.head = 0
    }
    return next
  }
}

/**
 * A thread that sleeps until something is put into its inbox, and then takes all that is there, turn after turn. What comes while it
 * waits for a core is part of the turn: so turns grow when cores are scarce.
 */
export class Thread<Item> {
  /** CPU time of this thread. */
  busyUs = 0
  private inbox: Item[] = []
  private isAwake = false
  private readonly clock: Clock
  private readonly cores: Cores
  private readonly wakeUs: number
  private readonly turn: (items: readonly Item[]) => number

  /**
   * @param wakeUs time between the first item and being ready to run.
   * @param turn called when the turn begins. It returns how long the turn takes.
   */
  constructor(clock: Clock, cores: Cores, wakeUs: number, turn: (items: readonly Item[]) => number) {
    this.clock = clock
    this.cores = cores
    this.wakeUs = wakeUs
    this.turn = turn
  }

  put(item: Item): void {
    this.inbox.push(item)
    if (this.isAwake) return
    this.isAwake = true
    this.clock.after(this.wakeUs, () => this.takeTurn())
  }

  private takeTurn(): void {
    this.cores.add({
      begin: () => {
        const items = this.inbox
        this.inbox = []
        const us = this.turn(items)
        this.busyUs += us
        return us
      },
      end: () => {
        if (this.inbox.length > 0) this.takeTurn()
        else this.isAwake = false
      },
    })
  }
}
