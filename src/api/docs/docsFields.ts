/** As much of JSON Schema as the answers and parameters use. */
export interface FieldSchema {
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly anyOf?: readonly FieldSchema[]
  readonly items?: FieldSchema
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
}

/** One field of an answer, in words. */
interface DocsField {
  /** Path below the answer: `bridges[].tx_hash`. */
  readonly name: string
  readonly kind: string
  readonly description: string | undefined
}

/** Every field of an answer in the order in which it is sent, those of records inside it under their paths. */
export function docsFields(record: FieldSchema, path = ''): DocsField[] {
  const { properties = {}, required = [] } = record
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = path + key
    // Of a list, or of what may be null.
    const record = schema.items ?? schema.anyOf?.[0]
    const kind = required.includes(key) ? docsKind(schema) : `${docsKind(schema)}, may be absent`
    return [
      { name, kind, description: schema.description ?? record?.description },
      ...(schema.anyOf ?? [schema]).flatMap((choice) => docsFields(choice, `${name}.`)),
      ...docsFields(schema.items ?? {}, `${name}[].`),
    ]
  })
}

/** What a value is, with its limits: `integer, 1 to 1000`, `list, 32 of: string …`. */
export function docsKind(schema: FieldSchema): string {
  const { type, anyOf, pattern, items = {} } = schema
  if (anyOf !== undefined) return anyOf.map(docsKind).join(' or ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(' or ')
  if (pattern !== undefined) return `string \`${pattern}\``
  if (type === 'integer') return `integer, ${limits(schema.minimum, schema.maximum)}`
  if (type === 'array') return `list, ${limits(schema.minItems, schema.maxItems)} of: ${docsKind(items)}`
  return type === 'object' ? 'record' : String(type)
}

function limits(least = 0, most = Number.POSITIVE_INFINITY): string {
  if (most === Number.POSITIVE_INFINITY) return `${least} or more`
  return least === most ? String(least) : `${least} to ${most}`
}
