/** The rooms of a running service. They close in the opposite order of opening, each exactly once. */
export class Rooms {
  private readonly open: { readonly name: string; readonly close: () => Promise<void> }[] = []
  private closing = new Set<string>()

  /** Rooms of one `group` that are added one after the other close at the same time. */
  add(name: string, close: () => Promise<void>, group = name): void {
    const last = this.open.at(-1)
    if (last?.name !== group) {
      this.open.push({ name: group, close: () => this.watch(name, close) })
      return
    }
    this.open[this.open.length - 1] = {
      name: group,
      close: async () => {
        await Promise.all([last.close(), this.watch(name, close)])
      },
    }
  }

  /** Closes all open rooms, even if one fails. @throws the first failure, at the end. */
  async closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let room = this.open.pop(); room !== undefined; room = this.open.pop())
      await room.close().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  /** The rooms that are closing now, for the message of a shutdown that hangs. */
  closingNow(): string | undefined {
    return this.closing.size === 0 ? undefined : [...this.closing].join(', ')
  }

  private async watch(name: string, close: () => Promise<void>): Promise<void> {
    this.closing.add(name)
    await close()
    this.closing.delete(name)
  }
}
