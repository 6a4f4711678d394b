import { readFileSync } from 'node:fs'

/**
 * A secret that the platform puts into a file of its own (Docker and Kubernetes secrets); spaces around it are dropped.
 * @returns undefined when the file can't be read.
 */
export function readSecret(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
