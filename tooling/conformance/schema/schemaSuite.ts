/**
 * The official suite of JSON Schema (`json-schema-org/JSON-Schema-Test-Suite`): its required tests of every supported draft.
 *
 * @module
 */
import { basename, dirname } from "node:path"
import { jsonSchema } from "@troupe/chat/tools"
import { fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"
import type { Case, Suite } from "../runner/suite.ts"

/** The dialect of a folder's schemas. */
const dialects: Readonly<Record<string, string>> = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema"
}

/** A schema is an object here: `true` and `false` are put below `allOf`. */
const schemaOf = (schema: unknown, $schema: string): Readonly<Record<string, unknown>> =>
  isFields(schema) ? { $schema, ...schema } : { $schema, allOf: [schema] }

/** The suite; each file is a list of schemas, each with its tests. */
export const schemaSuite: Suite = {
  casesOf: (content, file, path) => {
    const folder = basename(dirname(path))
    const dialect = dialects[folder]
    if (dialect === undefined) return []
    return listOf(content)
      .map(fieldsOf)
      .flatMap((group) => {
        const schema = schemaOf(group["schema"], dialect)
        const { validate } = jsonSchema(schema)["~standard"]
        return listOf(group["tests"])
          .map(fieldsOf)
          .map((test): Case => {
            const { valid, data } = test
            const id = `${folder} ${file}: ${textOf(group["description"])}: ${textOf(test["description"])}`
            const facts = {
              suite: "schema",
              operation: folder,
              given: { schema, data },
              expected: { valid }
            } as const
            const run: Case["run"] = async () => {
              const { issues = [] } = await validate(data)
              const fits = issues.length === 0
              return fits === valid
                ? []
                : [{ path: "valid", message: `is ${fits}: ${textOf(issues)}`, ours: fits, theirs: valid }]
            }
            return { id, facts, run }
          })
      })
  }
}
