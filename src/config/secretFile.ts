import { readFileSync } from 'node:fs'

/**
 * Reads a secret from a file of its own (Docker and Kubernetes secrets), without spaces and line breaks around it.
 * @returns undefined when the file can't be read.
 */
export function readSecret(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
