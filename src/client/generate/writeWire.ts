import { writeFileSync } from 'node:fs'
import { wireModule } from './wireModule.js'

/** `npm run generate:client`, from the project's folder: writes what the client knows of records, routes and errors. */
writeFileSync('src/client/wireDefinition.ts', wireModule())
