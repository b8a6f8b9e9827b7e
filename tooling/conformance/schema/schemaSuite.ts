/**
 * The official suite of JSON Schema (`json-schema-org/JSON-Schema-Test-Suite`): its required tests of every supported draft.
 *
 * **Details**: a test may refer to documents of the suite's folder `remotes`. They are put into the definitions of its schema,
 * each with its address, as a program does it.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { jsonSchema } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"
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

const withDefinitions = (schema: Fields, documents: Fields): Fields => ({
  ...schema,
  $defs: { ...fieldsOf(schema["$defs"]), ...documents }
})

const host = "http://localhost:1234/"

/** The documents that tests of a folder may refer to, as definitions; none without the suite's folder `remotes`. */
const documentsOf = (folder: string, remotes: string): Readonly<Record<string, unknown>> => {
  if (!existsSync(remotes)) return {}
  const files = readdirSync(remotes, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".json") && (!/^(?:draft|v1)/.test(file) || file.startsWith(`${folder}/`)))
  const idKey = folder === "draft4" ? "id" : "$id"
  return Object.fromEntries(
    files.map((file) => {
      const content: unknown = JSON.parse(readFileSync(join(remotes, file), "utf8"))
      const { $defs = {}, definitions = {}, ...rest } = fieldsOf(content)
      // A document with an id or a reference of its own stays whole below its address.
      const isWhole = idKey in rest || "$ref" in rest || !isFields(content)
      const document = isWhole ? { $defs, definitions, allOf: [content] } : content
      return [host + file, { ...document, [idKey]: host + file }]
    })
  )
}

/** The suite; each file is a list of schemas, each with its tests. */
export const schemaSuite: Suite = {
  casesOf: (content, file, path) => {
    const folder = basename(dirname(path))
    const dialect = dialects[folder]
    if (dialect === undefined) return []
    const documents = documentsOf(folder, join(dirname(path), "../../remotes"))
    return listOf(content)
      .map(fieldsOf)
      .flatMap((group) => {
        const schema = schemaOf(group["schema"], dialect)
        const hasOthers = JSON.stringify(schema).includes(host)
        const { validate } = jsonSchema(hasOthers ? withDefinitions(schema, documents) : schema)["~standard"]
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
