import { useEffect, useState } from 'preact/hooks'
import { settings } from './pageSettings.js'

/** Light or dark: as the system has it, until somebody chooses. */

const KEY = 'explorer-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    // Storage may be forbidden: then the choice lasts as long as the page.
    return null
  }
}

let choice = chosen()

function apply(): boolean {
  const isDark = choice === null ? system.matches : choice === 'dark'
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  return isDark
}

/** Sets colours before anything is shown. */
export function startTheme(): void {
  document.documentElement.style.setProperty('--chosen-accent', settings.accent)
  apply()
}

export function useTheme(): { readonly isDark: boolean; readonly toggle: () => void } {
  const [isDark, setDark] = useState(apply)
  useEffect(() => {
    const follow = (): void => setDark(apply())
    system.addEventListener('change', follow)
    return () => system.removeEventListener('change', follow)
  }, [])
  const toggle = (): void => {
    choice = isDark ? 'light' : 'dark'
    try {
      localStorage.setItem(KEY, choice)
    } catch {
      // As above.
    }
    setDark(apply())
  }
  return { isDark, toggle }
}
