/**
 * The faults of a JSON Schema that are found without a value.
 *
 * SCHEMA4. The schema of a tool is the schema of an object. An unknown `type`, a reference to a missing part of the schema,
 *          and an object without a keyword are refused when the tool is defined, and the error says what to write.
 */
import { closestName, type Finding, isRecord, quoted, unknownName } from "../errors/index.ts"
import { hasSchemas, type Keywords, type Resource, SchemaDocument, schemasIn } from "./document.ts"

const types = ["string", "number", "integer", "boolean", "object", "array", "null"]

/** The keywords without schemas inside that a schema can consist of. */
const plain = new Set(
  (
    "$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary const default " +
    "dependentRequired deprecated description discriminator enum example examples exclusiveMaximum exclusiveMinimum " +
    "externalDocs format id maxContains maximum maxItems maxLength maxProperties minContains minimum minItems minLength " +
    "minProperties multipleOf nullable pattern readOnly required title type uniqueItems writeOnly xml"
  ).split(" ")
)

/** The names of the fields of an object that was written in place of its schema; `undefined` for a schema. */
export const fieldsInPlace = (schema: Keywords): ReadonlyArray<string> | undefined => {
  const names = Object.keys(schema)
  const isPlain =
    names.length === 0 || names.some((name) => plain.has(name) || hasSchemas(name) || name.startsWith("x-"))
  return isPlain && !isRecord(schema["type"]) ? undefined : names
}

/** The unknown types and the references to missing parts, each with its path (SCHEMA4). */
export const of = (schema: Keywords): ReadonlyArray<Finding> => {
  const document = new SchemaDocument(schema)
  const found: Array<Finding> = []
  const seen = new Set<unknown>()
  const rest: Array<{ readonly schema: unknown; readonly path: ReadonlyArray<string>; readonly around: Resource }> = [
    { schema, path: [], around: document.root }
  ]
  for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
    const { path } = part
    if (!isRecord(part.schema) || seen.has(part.schema)) continue
    seen.add(part.schema)
    const resource = document.resourceOf(part.schema, part.around)
    if (resource.draft !== 0)
      found.push(...typeFindings(part.schema, path), ...referenceFindings(part.schema, path, resource, document))
    for (const { path: inner, below } of schemasIn(part.schema).toReversed()) {
      rest.push({ schema: below, path: [...path, ...inner], around: resource })
    }
  }
  return found
}

const typeFindings = ({ type }: Keywords, path: ReadonlyArray<string>): ReadonlyArray<Finding> =>
  [type ?? []]
    .flat()
    .filter((word) => !types.includes(word as string))
    .map((word) => {
      const advice = typeof word === "string" ? unknownName(word, types) : `unknown; use ${types.join(", ")}`
      const otherwise = advice.includes("; use") ? ", or leave type out for any value" : ""
      return {
        field: [...path, "type"],
        reason: `${quoted(JSON.stringify(word) ?? "nothing")} is ${advice}${otherwise}`
      }
    })

const referenceFindings = (
  { $ref: reference }: Keywords,
  path: ReadonlyArray<string>,
  resource: Resource,
  document: SchemaDocument
): ReadonlyArray<Finding> => {
  const isLocal = typeof reference === "string" && reference.startsWith("#")
  if (!isLocal || document.resolve(reference, resource) !== undefined) return []
  const meant = closestPart(reference, resource.root)
  const advice =
    meant === undefined ? "put the schema there, or write it in place of the reference" : `did you mean ${meant}?`
  return [{ field: [...path, "$ref"], reason: `"${quoted(reference)}" is no part of the schema; ${advice}` }]
}

/** The definition whose name is the closest to the end of a reference. */
const closestPart = (reference: string, root: unknown): string | undefined => {
  const name = reference.slice(Math.max(reference.lastIndexOf("/"), 0) + 1)
  for (const keyword of ["$defs", "definitions"]) {
    const definitions = isRecord(root) ? root[keyword] : undefined
    const meant = isRecord(definitions) ? closestName(name, Object.keys(definitions)) : undefined
    if (meant !== undefined) return `#/${keyword}/${meant}`
  }
  return undefined
}
