/** The keywords that refer to another schema. */
import type { Draft, Keywords, Resource } from "./document.ts"
import { isText, type Keyword } from "./keyword.ts"

/** Whether another keyword replaces a keyword of the schema: a reference in old drafts replaces all. */
export const replacedBy = (schema: Keywords, draft: Draft): ((keyword: string) => boolean) =>
  draft <= 7 && typeof schema["$ref"] === "string" ? (keyword) => keyword !== "$ref" : () => false

export const reference: Keyword["make"] = (argument, _, { checkAt, document, resource }) => {
  const target = document.resolve(argument, resource)
  return target === undefined ? (_value, _at, run) => run.pass() : checkAt(target)
}

/** Begins as a reference; a dynamic anchor means the outermost schema with this anchor that the check is in. */
export const dynamicReference: Keyword["make"] = (argument, schema, compiler) => {
  const { checkAt, document, resource } = compiler
  const target = document.resolve(argument, resource)
  const name = isText(argument) ? argument.slice(argument.indexOf("#") + 1) : ""
  if (target === undefined || target.resource.dynamicAnchors.get(name) !== target.schema) {
    return reference(argument, schema, compiler)
  }
  return (value, at, run, evaluated) => {
    const outermost = (run.scope as ReadonlyArray<Resource>).find(({ dynamicAnchors }) => dynamicAnchors.has(name))
    const found = outermost ?? target.resource
    return checkAt({ schema: found.dynamicAnchors.get(name), resource: found })(value, at, run, evaluated)
  }
}
