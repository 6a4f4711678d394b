import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { routes } from '../../../../src/api/routes.js'
import { ErrorResponse } from '../../../../src/api/schemas.js'
import { rootSchema } from '../../../../src/config/configKeys.js'

// A start does not hold them against the schema of schemas, to save its time.
test('the schemas of parameters, answers and the configuration are valid JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: false })
  const schemas = Object.values(routes).flatMap(({ parameters, response }) => [parameters, response])
  for (const schema of [...schemas, ErrorResponse, rootSchema])
    assert.ok(ajv.validateSchema(schema), ajv.errorsText())
})
