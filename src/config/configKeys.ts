import { ConfigFile } from './schema.js'

/** The parts of JSON Schema that the configuration uses. */
export interface KeySchema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly unit?: string
  readonly enum?: readonly string[]
  /** Schemas of which a value fits one. */
  readonly anyOf?: readonly KeySchema[]
  readonly const?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, KeySchema>>
  readonly items?: KeySchema
  readonly required?: readonly string[]
}

/** One key of the file. */
export interface ConfigKey {
  /** `http.port`, or `networks[].chain_id`. */
  readonly name: string
  /** `['http', 'port']`, `['dialects', 'aggkit', 'release']`; for a key of a network only its name. */
  readonly path: readonly string[]
  readonly isNetworkKey: boolean
  readonly schema: KeySchema
  readonly isRequired: boolean
}

/** The root of the schema, as plain JSON Schema. */
export const rootSchema: KeySchema = ConfigFile as unknown as KeySchema

/** Every key in the order of the schema; sections themselves are not listed. */
export const configKeys: readonly ConfigKey[] = listKeys()

/** The keys of an endpoint's table, in the order of the schema. */
export const endpointKeys: readonly { readonly name: string; readonly schema: KeySchema }[] = Object.entries(
  rootSchema.properties?.networks?.items?.properties?.rpc?.items?.properties ?? {},
).map(([name, schema]) => ({ name, schema }))

function listKeys(): ConfigKey[] {
  const keys: ConfigKey[] = []
  for (const [name, schema] of Object.entries(rootSchema.properties ?? {})) {
    const children = schema.items?.properties
    if (children === undefined) {
      keys.push(...listBelow(schema, [name], rootSchema))
      continue
    }
    for (const [key, child] of Object.entries(children))
      keys.push({
        name: `${name}[].${key}`,
        path: [key],
        isNetworkKey: true,
        schema: child,
        isRequired: isRequired(schema.items!, key, child),
      })
  }
  return keys
}

/** The keys of a section and of those within it, or the key itself. */
function listBelow(schema: KeySchema, path: readonly string[], parent: KeySchema): ConfigKey[] {
  const children = schema.properties
  if (children !== undefined)
    return Object.entries(children).flatMap(([key, child]) => listBelow(child, [...path, key], schema))
  return [
    {
      name: path.join('.'),
      path,
      isNetworkKey: false,
      schema,
      isRequired: isRequired(parent, path.at(-1)!, schema),
    },
  ]
}

function isRequired(parent: KeySchema, key: string, schema: KeySchema): boolean {
  return parent.required?.includes(key) === true && schema.default === undefined
}
