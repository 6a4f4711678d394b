import type { TSchema } from '@sinclair/typebox'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })

/** Compiles a schema, at start only: compiling is slow, validating is not. */
export function compileSchema(schema: TSchema): ValidateFunction {
  return ajv.compile(schema)
}
