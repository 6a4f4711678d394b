import { type KeySchema, rootSchema } from './configKeys.js'

const VARIABLE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' } as const

/**
 * JSON Schema (draft-07) of a configuration file as operators write it, for editors and linters: TOML, YAML and JSON have the same keys.
 * It is wider than the schema that values are checked with at start: `${NAME}` may stand for any value, an endpoint may be a text, and
 * nothing is required but a network's id, because flags, environment and preset may set the rest.
 */
export function fileSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of the bridge data service',
    ...widened(rootSchema, []),
  }
}

function widened(schema: KeySchema, path: readonly string[]): object {
  const { properties, items, unit, required: _, ...rest } = schema
  const description = [schema.description, unit === undefined ? undefined : `Unit: ${unit}.`]
    .filter((part) => part !== undefined)
    .join(' ')
  const told = description === '' ? {} : { description }
  if (properties !== undefined)
    return {
      ...rest,
      ...told,
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, child]) => [key, widened(child, [...path, key])]),
      ),
      ...('network_id' in properties ? { required: ['network_id'] } : {}),
    }
  if (items !== undefined) {
    const item = widened(items, path)
    const isEndpoints = path.at(-1) === 'rpc'
    return {
      ...rest,
      ...told,
      items: isEndpoints ? { anyOf: [{ type: 'string', minLength: 1 }, item] } : item,
    }
  }
  if (isFreeText(schema)) return { ...rest, ...told }
  const { description: _told, default: usual, ...limits } = rest
  return {
    ...told,
    ...(usual === undefined ? {} : { default: usual }),
    anyOf: [...(schema.anyOf ?? [limits]), VARIABLE],
  }
}

/** Whether any text fits, also one with a variable in it. */
function isFreeText({ type, enum: values, pattern }: KeySchema): boolean {
  return type === 'string' && values === undefined && pattern === undefined
}
