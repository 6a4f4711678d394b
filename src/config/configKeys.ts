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
  /** `['http', 'port']`; for a key of a network only its name. */
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
    const children = schema.properties ?? schema.items?.properties
    const parent = schema.items ?? (schema.properties ? schema : rootSchema)
    const isNetworkKey = schema.items !== undefined
    for (const [key, child] of children ? Object.entries(children) : [[name, schema] as const]) {
      keys.push({
        name: children === undefined ? name : `${name}${isNetworkKey ? '[]' : ''}.${key}`,
        path: children === undefined || isNetworkKey ? [key] : [name, key],
        isNetworkKey,
        schema: child,
        isRequired: parent.required?.includes(key) === true && child.default === undefined,
      })
    }
  }
  return keys
}
