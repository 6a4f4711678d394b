/** The rule by which names of the wire and names of the client become each other: `tx_hash`, `txHash`. */

export function camelCase(wire: string): string {
  return wire.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
