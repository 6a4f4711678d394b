import type { JSX } from 'preact'

/** A handful of line icons on a grid of 16. They stand beside words, so nothing reads them aloud. */
const shapes = {
  check: 'M3.5 8.5l3 3 6-7',
  clock: 'M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  ready: 'M8 2.5v7M5 7l3 3 3-3M3 13h10',
  cross: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  out: 'M6.5 3.5h-3v9h9v-3M9.5 3.5h3v3M12.5 3.5L7.5 8.5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  warn: 'M8 2.5l6 11H2zM8 6.5v3M8 11.5v.2',
  dash: 'M4 8h8',
} as const

export type IconName = keyof typeof shapes

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  )
}
