import type { NetworkId } from '../../protocol/units.js'
import type { FieldPlace, FieldPlaces } from '../../query/packedRows.js'

/** Where one field comes from. */
interface Source<Value, Facts> {
  /** Where it stands when a row is packed; for some it depends on the network that is asked. */
  readonly place: FieldPlace | ((networkId: NetworkId) => FieldPlace)
  /** Its value in a record, for rows that are written alone. */
  of(facts: Facts): Value
}

/** Where all fields of a record come from. Optional ones have no place: a row with one of them is written alone. */
export type Sources<Row, Facts> = {
  readonly [Name in keyof Row]: undefined extends Row[Name]
    ? Pick<Source<Row[Name], Facts>, 'of'>
    : Source<Row[Name], Facts>
}

/** The same object must be used for every page of a network: what is made of it is kept by it. */
export function placesOf<Row, Facts>(sources: Sources<Row, Facts>, networkId: NetworkId): FieldPlaces {
  const entries = Object.entries<Partial<Source<unknown, Facts>>>(sources)
  return Object.fromEntries(
    entries.flatMap(([name, { place }]) =>
      place === undefined ? [] : [[name, typeof place === 'function' ? place(networkId) : place]],
    ),
  )
}

export function recordOf<Row, Facts>(sources: Sources<Row, Facts>, facts: Facts): Row {
  const record: Partial<Row> = {}
  for (const name in sources) record[name] = sources[name].of(facts)
  // Each field was just set.
  return record as Row
}
