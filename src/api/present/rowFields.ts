import type { FieldSources, RowField } from '../../query/packedRows.js'

/** Wire name → the protocol's name of each field, in the order of the wire. */
export type WireNames = readonly (readonly [wire: string, name: string])[]

/** Field lists already made, by the sources that they were made of: a shard hands out the same object each time. */
const made = new WeakMap<FieldSources, readonly RowField[]>()

/** What a row writer needs to write a record: constants and brackets become part of the texts between the fields. */
export function rowFields(names: WireNames, sources: FieldSources): readonly RowField[] {
  const known = made.get(sources)
  if (known !== undefined) return known
  const fields: RowField[] = []
  let text = '{'
  for (const [at, [wire, name]] of names.entries()) {
    const source = sources[name]
    if (source === undefined) throw new TypeError(`the rows have no field ${name}`)
    text += `${at === 0 ? '' : ','}"${wire}":`
    if (source.kind === 'constant') {
      text += source.json
      continue
    }
    if (source.kind === 'hexValue') text += `"0x${source.head}`
    fields.push({ text, source })
    text = source.kind === 'hexValue' ? '"' : ''
  }
  fields.push({ text: `${text}}`, source: undefined })
  made.set(sources, fields)
  return fields
}
