import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icons.js'
import { canGoBack, goTo, type Place, withQuery } from './pageLocation.js'
import { networkIds, networkName } from './pageSettings.js'
import { Link } from './pieces.js'
import { grouped, shortHex } from './spelling.js'

/** Filters of a list, which stand in the page's address and nowhere else, so that a link shows the same. */

export interface Choice {
  readonly value: string
  readonly label: string
}

export interface FilterField {
  /** Name in the address. */
  readonly name: string
  readonly label: string
  /** Absent: a text. */
  readonly choices?: readonly Choice[]
  /** What it is while nothing is chosen: `All`. */
  readonly unset?: string
  readonly type?: 'address' | 'hash' | 'date' | 'number'
  /** Whether it stands among the few that are always shown. */
  readonly isMain?: boolean
}

export const networkChoices: readonly Choice[] = networkIds.map((id) => ({
  value: String(id),
  label: networkName(id),
}))

/** @param unset what it is called when nothing is chosen; absent where something always is. */
export function ChoiceField({
  label,
  choices,
  value,
  unset,
  onChange,
}: {
  readonly label: string
  readonly choices: readonly Choice[]
  /** '' while nothing is chosen. */
  readonly value: string
  readonly unset?: string
  readonly onChange: (value: string) => void
}): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {unset === undefined ? null : <option value="">{unset}</option>}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  )
}

const MOST_TABS = 8

/** Which network the list is of, with the number of its rows. */
export function NetworkTabs({
  place,
  chosen,
  countOf,
  label,
}: {
  readonly place: Place
  readonly chosen: number
  readonly countOf: (networkId: number) => number | undefined
  readonly label: string
}): JSX.Element {
  const target = (id: string): string => withQuery(place, { network: id, cursor: undefined })
  if (networkIds.length > MOST_TABS)
    return (
      <ChoiceField
        label={label}
        choices={networkChoices}
        value={String(chosen)}
        onChange={(network) => goTo(target(network))}
      />
    )
  return (
    <nav class="tabs" aria-label={label}>
      {networkIds.map((id) => (
        <Link key={id} to={target(String(id))} current={id === chosen && 'page'}>
          {networkName(id)}{' '}
          <span class="count">{countOf(id) === undefined ? '–' : grouped(countOf(id)!)}</span>
        </Link>
      ))}
    </nav>
  )
}

export function FilterBar({
  place,
  fields,
}: {
  readonly place: Place
  readonly fields: readonly FilterField[]
}): JSX.Element {
  const set = (name: string, value: string): void =>
    goTo(withQuery(place, { [name]: value, cursor: undefined }))
  const isSet = ({ name }: FilterField): boolean => place.query.has(name)
  const others = fields.filter(({ isMain }) => isMain !== true)
  const render = (field: FilterField): JSX.Element => (
    <Field
      key={field.name}
      field={field}
      value={place.query.get(field.name) ?? ''}
      onChange={(value) => set(field.name, value)}
    />
  )
  return (
    <div class="filters">
      <div class="fields">{fields.filter(({ isMain }) => isMain === true).map(render)}</div>
      {others.length === 0 ? null : (
        <details open={others.some(isSet)}>
          <summary>More filters</summary>
          <div class="fields">{others.map(render)}</div>
        </details>
      )}
      <ActiveFilters place={place} fields={fields} />
    </div>
  )
}

/** The filters in force, each with a way to drop it. */
export function ActiveFilters({
  place,
  fields,
}: {
  readonly place: Place
  readonly fields: readonly FilterField[]
}): JSX.Element | null {
  const set = fields.filter(({ name }) => place.query.has(name))
  if (set.length === 0) return null
  return (
    <ul class="active">
      {set.map(({ name, label, choices }) => {
        const value = place.query.get(name)!
        const shown = choices?.find((choice) => choice.value === value)?.label ?? shortHex(value)
        return (
          <li key={name}>
            <Link
              to={withQuery(place, { [name]: undefined, cursor: undefined })}
              title={`Drop the filter ${label}`}
            >
              {label}: {shown}
              <Icon name="cross" />
            </Link>
          </li>
        )
      })}
    </ul>
  )
}

const PATTERNS = {
  address: /^0x[0-9a-f]{40}$/i,
  hash: /^0x[0-9a-f]{64}$/i,
  number: /^\d{1,10}$/,
  date: /^\d{4}-\d\d-\d\d$/,
}
const HINTS = {
  address: 'An address is 0x and 40 digits.',
  hash: 'A transaction hash is 0x and 64 digits.',
  number: 'Digits only.',
  date: 'A day.',
}

function Field({
  field,
  value,
  onChange,
}: {
  readonly field: FilterField
  readonly value: string
  readonly onChange: (value: string) => void
}): JSX.Element {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const { label, choices, type } = field
  if (choices !== undefined)
    return <ChoiceField {...{ label, choices, value, onChange }} unset={field.unset ?? 'All'} />
  const trimmed = text.trim()
  const isWrong = type !== undefined && trimmed !== '' && !PATTERNS[type].test(trimmed)
  const submit = (): void => {
    if (!isWrong && trimmed !== value) onChange(trimmed)
  }
  return (
    <label
      class={type === 'date' || type === 'number' ? 'field' : 'field long'}
      htmlFor={`filter-${field.name}`}
    >
      <span>{label}</span>
      {type === 'date' ? (
        <input
          id={`filter-${field.name}`}
          type="date"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <input
          id={`filter-${field.name}`}
          type="text"
          spellcheck={false}
          autocomplete="off"
          placeholder={type === 'address' || type === 'hash' ? '0x…' : ''}
          value={text}
          aria-invalid={isWrong}
          onInput={(event) => setText(event.currentTarget.value)}
          onChange={submit}
        />
      )}
      {isWrong && type !== undefined ? <small role="status">{HINTS[type]}</small> : null}
    </label>
  )
}

/** @param rows on this page. */
export function Pager({
  place,
  rows,
  total,
  next,
}: {
  readonly place: Place
  readonly rows: number
  readonly total: number
  readonly next: string | null
}): JSX.Element {
  const isFirst = !place.query.has('cursor')
  const isOldestFirst = place.query.get('order') === 'asc'
  return (
    <nav class="pager" aria-label="Pages of this list">
      <span class="muted">
        {rows === total ? `${grouped(total)} in all` : `${grouped(rows)} of ${grouped(total)}`}
      </span>
      {isFirst && next === null ? null : (
        <span class="buttons">
          {isFirst ? null : (
            <Link class="button" to={withQuery(place, { cursor: undefined })}>
              {isOldestFirst ? 'Oldest' : 'Newest'}
            </Link>
          )}
          <button type="button" disabled={isFirst || !canGoBack()} onClick={() => history.back()}>
            {isOldestFirst ? 'Older' : 'Newer'}
          </button>
          <button
            type="button"
            disabled={next === null}
            onClick={() => {
              goTo(withQuery(place, { cursor: next ?? undefined }))
              scrollTo(0, 0)
            }}
          >
            {isOldestFirst ? 'Newer' : 'Older'}
          </button>
        </span>
      )}
    </nav>
  )
}

/** Unix seconds of the first or the last second of a day in UTC; undefined for no day. */
export function dayEdge(day: string | null, edge: 'first' | 'last'): number | undefined {
  if (day === null || !PATTERNS.date.test(day)) return undefined
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? undefined : ms / 1000 + (edge === 'last' ? 86_399 : 0)
}

/** The network that the address names, if it is served. */
export function namedNetwork(place: Place): number | undefined {
  const named = place.query.get('network')
  return networkIds.find((id) => String(id) === named)
}

/** That of a list, which is always of one network: the first where none is named. */
export function chosenNetwork(place: Place): number {
  return namedNetwork(place) ?? networkIds[0]!
}
