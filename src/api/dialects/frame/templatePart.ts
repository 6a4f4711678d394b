import type { Encoding, FieldPart, TemplatePart } from '../../../query/rowTemplate.js'

type More = Pick<FieldPart, 'omitsNull' | 'ofNull' | 'words'> & {
  readonly isOptional?: boolean
}

/** @returns what puts one field of a row of ours into a template, under its key there. */
export function fieldsOf<Row>() {
  return (key: string, field: keyof Row & string, encoding: Encoding, more: More = {}): TemplatePart => ({
    key,
    field,
    encoding,
    isOptional: false,
    ...more,
  })
}
