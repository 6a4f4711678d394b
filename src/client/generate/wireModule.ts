import type { TSchema } from '@sinclair/typebox'
import { errorTable } from '../../api/errorTable.js'
import { probeRoutes, routes, streamRoutes } from '../../api/routes.js'
import { feedDefinitions } from '../../query/feed/feedRecords.js'
import * as proofRecords from '../../query/proofRecords.js'
import {
  type Field,
  type InnerRecord,
  isInnerRecord,
  type Kind,
  type RecordDefinition,
} from '../../query/recordFields.js'
import * as records from '../../query/records.js'
import * as statusRecords from '../../query/statusRecords.js'
import { camelCase } from '../wireNames.js'

/**
 * The client's types and tables as a module's text, from the one definition of records, routes and errors. It is generated and not derived
 * by the compiler, so that the published types import nothing, show every field with its description, and the tables are small.
 */
export function wireModule(): string {
  const shapes = new Map<string, Shape>()
  const operations = [
    ...Object.entries(routes).map(([id, { path, summary, parameters, response }]): Operation => {
      const name = `${id.slice('get'.length)}Parameters`
      return { id, path, summary, parameters: { name, schema: parameters }, shape: shapeOf(response, shapes) }
    }),
    ...Object.entries(probeRoutes).map(
      ([id, { paths, summary, otherStatuses, response }]): Operation => ({
        id,
        // Behind a proxy only the paths of the API may lead to the service.
        path: paths.find((path) => path.startsWith('/bridge/v1')) ?? paths[0],
        summary,
        ownStatuses: otherStatuses,
        shape: shapeOf(response, shapes),
      }),
    ),
  ]
  const { parameters: schema, data } = streamRoutes.getEvents
  const events = data.anyOf.map((event) => shapeOf(event, shapes))
  const ofEvents = { name: 'EventsParameters', schema }
  return `${[
    HEAD,
    errorCodes(),
    ...[...shapes.values()].map(shapeType),
    eventType(events),
    ...operations.flatMap(({ parameters }) => (parameters === undefined ? [] : [parametersType(parameters)])),
    parametersType(ofEvents),
    endpointsType(operations),
    operationsTable(operations),
    eventsTable(events),
    shapesTable([...shapes.values()]),
  ].join('\n\n')}\n`
}

const HEAD = `import type { CallOptions } from './call.types.js'

// Generated from the definitions of records, routes and errors: \`npm run generate:client\`. A test compares it with them.

/** 0x and hexadecimal digits. */
export type Hex = \`0x\${string}\``

interface Operation {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly parameters?: Parameters
  /** Statuses besides 200 that are an answer and no failure. */
  readonly ownStatuses?: readonly number[]
  /** Name of the answer's shape. */
  readonly shape: string
}

interface Parameters {
  readonly name: string
  readonly schema: TSchema
}

/** An object of an answer. */
interface Shape {
  readonly title: string
  readonly description: string
  readonly fields: readonly ShapeField[]
}

interface ShapeField {
  readonly wire: string
  readonly description: string
  /** Its type in TypeScript, and the letters by which the client reads it. */
  readonly spelling: Spelling
  readonly isOptional: boolean
}

type Spelling = readonly [type: string, letters: string]

/** How the client reads each kind: `readers` of `decodeAnswer.ts` has the letters. */
const kindSpellings: { readonly [K in Kind]: Spelling } = {
  hash: ['Hex', 'h'],
  address: ['Hex', 'a'],
  amount: ['bigint', 'd'],
  bytes: ['Hex', 'x'],
  branch: ['readonly Hex[]', 'h*'],
  uint8: ['number', 'n'],
  uint32: ['number', 'n'],
  count: ['number', 'n'],
  networkId: ['number', 'n'],
  depositCount: ['number', 'n'],
  l1InfoTreeIndex: ['number', 'n'],
  blockNumber: ['number', 'n'],
  unixSeconds: ['number', 'n'],
  boolean: ['boolean', 'b'],
  onlyFalse: ['false', 'b'],
  text: ['string', 't'],
}

/** Records by the title that their schemas have. */
const definitions = new Map<string, RecordDefinition>()
for (const value of Object.values<unknown>({
  ...records,
  ...proofRecords,
  ...statusRecords,
  ...feedDefinitions,
}))
  if (isDefinition(value)) addDefinition(value)

function isDefinition(value: unknown): value is RecordDefinition {
  return typeof value === 'object' && value !== null && 'fields' in value && 'title' in value
}

/** Adds a record and those within it. */
function addDefinition(definition: RecordDefinition): void {
  definitions.set(definition.title, definition)
  for (const field of Object.values(definition.fields)) if (isInnerRecord(field)) addDefinition(field.record)
}

/** Adds the shape of an object, and those within it, to `shapes`. @returns its name. */
function shapeOf(schema: TSchema, shapes: Map<string, Shape>): string {
  const title = schema.title
  if (title === undefined) throw new TypeError(`an object without a title: ${JSON.stringify(schema)}`)
  if (shapes.has(title)) return title
  const definition = definitions.get(title)
  const fields =
    definition === undefined
      ? Object.entries(propertiesOf(schema)).map(([wire, property]) => ({
          wire,
          description: property.description ?? '',
          spelling: schemaSpelling(property, shapes),
          isOptional: !schema.required.includes(wire),
        }))
      : Object.values(definition.fields).map((field) => definedField(field, schema, shapes))
  shapes.set(title, { title, description: definition?.description ?? schema.description ?? '', fields })
  return title
}

function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return schema.properties
}

function definedField(field: Field | InnerRecord, schema: TSchema, shapes: Map<string, Shape>): ShapeField {
  const { wire } = field
  const [type, letters] = fieldSpelling(field, schema, shapes)
  return {
    wire,
    description: isInnerRecord(field) ? field.record.description : field.description,
    spelling: field.isNullable ? [`${type} | null`, `${letters}~`] : [type, letters],
    isOptional: field.isOptional === true,
  }
}

function fieldSpelling(field: Field | InnerRecord, schema: TSchema, shapes: Map<string, Shape>): Spelling {
  if (isInnerRecord(field)) {
    const name = shapeOf(innerSchemaOf(propertiesOf(schema)[field.wire]!), shapes)
    return field.isList ? [`readonly ${name}[]`, `${name}*`] : [name, name]
  }
  if (field.words !== undefined) return [field.words.map((word) => `'${word}'`).join(' | '), 't']
  return isGlobalIndex(field.wire) ? GLOBAL_INDEX : kindSpellings[field.kind]
}

/** The record's own schema: that of a list's items, or of what may be null. */
function innerSchemaOf(schema: TSchema): TSchema {
  if (schema.type === 'array') return schema.items
  return schema.anyOf === undefined ? schema : schema.anyOf[0]
}

/** 64 hexadecimal digits on the wire, like a hash, but a number to who asks for it. */
const GLOBAL_INDEX: Spelling = ['bigint', 'g']

function isGlobalIndex(wire: string): boolean {
  return camelCase(wire) === 'globalIndex'
}

/** What the front answers has schemas alone. */
function schemaSpelling(schema: TSchema, shapes: Map<string, Shape>): Spelling {
  if (schema.anyOf !== undefined) {
    const choices: readonly TSchema[] = schema.anyOf
    const others = choices.filter(({ type }) => type !== 'null')
    const spellings = others.map((choice) => schemaSpelling(choice, shapes))
    const type = spellings.map(([choice]) => choice).join(' | ')
    const letters = spellings[0]![1]
    return others.length < choices.length ? [`${type} | null`, `${letters}~`] : [type, letters]
  }
  if (schema.const !== undefined) return [`'${schema.const}'`, 't']
  switch (schema.type) {
    case 'array': {
      const [type, letters] = schemaSpelling(schema.items, shapes)
      return [`readonly ${type}[]`, `${letters}*`]
    }
    case 'object': {
      const name = shapeOf(schema, shapes)
      return [name, name]
    }
    case 'integer':
      return ['number', 'n']
    case 'boolean':
      return ['boolean', 'b']
    case 'string':
      return ['string', 't']
  }
  throw new TypeError(`no spelling for ${JSON.stringify(schema)}`)
}

function shapeType({ title, description, fields }: Shape): string {
  return interfaceType(
    title,
    description,
    fields.map(({ wire, description, spelling: [type], isOptional }) => ({
      description,
      line: memberLine(`readonly ${camelCase(wire)}${isOptional ? '?' : ''}:`, type),
    })),
  )
}

/** As the formatter breaks a union that is too long for a line. */
function memberLine(name: string, type: string): string {
  return fits(`  ${name} ${type}`)
    ? `${name} ${type}`
    : `${name}\n    | ${type.replaceAll(' | ', '\n    | ')}`
}

function parametersType({ name, schema }: Parameters): string {
  const required: readonly string[] = schema.required ?? []
  return interfaceType(
    name,
    undefined,
    Object.entries(propertiesOf(schema)).map(([wire, property]) => {
      // A parameter with a default is required in the parsed query, and not of the caller.
      const isRequired = required.includes(wire) && property.default === undefined
      const type = isGlobalIndex(wire) ? 'bigint' : (LISTS_IN_TEXT[wire] ?? parameterType(property))
      return {
        description: [
          property.description,
          ...(property.default === undefined ? [] : [`Default: ${property.default}.`]),
        ].join(' '),
        line: `readonly ${camelCase(wire)}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'}`,
      }
    }),
  )
}

/** Parameters that are lists with commas, which no schema says. */
const LISTS_IN_TEXT: Readonly<Record<string, string>> = {
  types: "FeedEvent['type'] | readonly FeedEvent['type'][]",
  addresses: 'string | readonly string[]',
}

function parameterType(schema: TSchema): string {
  switch (schema.type) {
    case 'array': {
      const item = parameterType(schema.items)
      return `${item} | readonly ${item}[]`
    }
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'string':
      return schema.enum === undefined ? 'string' : schema.enum.map((word: string) => `'${word}'`).join(' | ')
  }
  throw new TypeError(`no type for ${JSON.stringify(schema)}`)
}

interface Member {
  readonly description: string
  readonly line: string
}

function interfaceType(name: string, description: string | undefined, members: readonly Member[]): string {
  return [
    ...(description === undefined ? [] : [`/** ${description} */`]),
    `export interface ${name} {`,
    ...members.flatMap(({ description, line }) => [
      ...(description === '' ? [] : [`  /** ${description} */`]),
      `  ${line}`,
    ]),
    '}',
  ].join('\n')
}

function errorCodes(): string {
  return [
    'export const apiErrorCodes = [',
    ...Object.entries(errorTable).flatMap(([code, { status, meaning }]) => [
      `  /** HTTP ${status}. ${meaning} */`,
      `  '${code}',`,
    ]),
    '] as const',
    '',
    '/** Every code of an error of the API. */',
    'export type ApiErrorCode = (typeof apiErrorCodes)[number]',
  ].join('\n')
}

function endpointsType(operations: readonly Operation[]): string {
  return interfaceType(
    'Endpoints',
    'One method for each endpoint. Each throws BridgeApiError, BridgeResponseError or BridgeNetworkError.',
    operations.map(({ id, path, summary, parameters, shape }) => {
      const isNeeded = parameters?.schema.required?.some(
        (wire: string) => propertiesOf(parameters.schema)[wire]?.default === undefined,
      )
      const own = parameters === undefined ? '' : `parameters${isNeeded ? '' : '?'}: ${parameters.name}`
      const given = [...(own === '' ? [] : [own]), 'options?: CallOptions']
      const line = `${id}(${given.join(', ')}): Promise<${shape}>`
      return {
        description: `${summary}. \`GET ${path}\``,
        line: fits(`  ${line}`)
          ? line
          : `${id}(\n${given.map((one) => `    ${one},\n`).join('')}  ): Promise<${shape}>`,
      }
    }),
  )
}

function eventType(events: readonly string[]): string {
  return `/** One event of a feed. Other types may come with newer services. */\nexport type FeedEvent =\n${events.map((name) => `  | ${name}`).join('\n')}`
}

function eventsTable(events: readonly string[]): string {
  return [
    '/** Where events are asked for, and the shape of each type of them. */',
    `export const eventsPath = '${streamRoutes.getEvents.path}'`,
    '',
    'export const eventShapes = {',
    ...Object.keys(feedDefinitions).map((type, at) => `  ${type}: '${events[at]}',`),
    '} as const',
  ].join('\n')
}

function operationsTable(operations: readonly Operation[]): string {
  return [
    '/** Where an operation is asked for, what answers, and which statuses besides 200 are its answer. */',
    'export const operations = {',
    ...operations.map(({ id, path, shape, parameters, ownStatuses = [] }) => {
      const facts = [
        `path: '${path}'`,
        `shape: '${shape}'`,
        `hasParameters: ${parameters !== undefined}`,
        ...(ownStatuses.length === 0 ? [] : [`own: [${ownStatuses.join(', ')}]`]),
      ]
      const line = `  ${id}: { ${facts.join(', ')} },`
      return fits(line) ? line : `  ${id}: {\n${facts.map((fact) => `    ${fact},\n`).join('')}  },`
    }),
    '} as const',
    '',
    'export type OperationId = keyof typeof operations',
  ].join('\n')
}

function shapesTable(shapes: readonly Shape[]): string {
  return [
    '/** Fields of each object: name, kind, then `*` for a list, `~` where null may stand, `?` where it may be absent. */',
    'export const shapes = {',
    ...shapes.map(({ title, fields }) => {
      const text = fields
        .map(({ wire, spelling: [, letters], isOptional }) => `${wire}:${letters}${isOptional ? '?' : ''}`)
        .join(' ')
      const line = `  ${title}: '${text}',`
      return fits(line) ? line : `  ${title}:\n    '${text}',`
    }),
    '} as const',
  ].join('\n')
}

/** Whether the formatter leaves a line as it is. */
function fits(line: string): boolean {
  return line.length <= 110
}
