/** The parts of one schema document: its resources, anchors and references. */
import { isRecord } from "../errors/index.ts"

/** A schema: an object of keywords. */
export type Keywords = Readonly<Record<string, unknown>>

/** The drafts that differ. A schema of an unknown dialect has draft 0, which has no keywords. */
export type Draft = 0 | 4 | 6 | 7 | 2019 | 2020

/** A schema with a base URI of its own, and the schemas that are named in it. */
export interface Resource {
  readonly root: unknown
  readonly base: string
  readonly draft: Draft
  readonly anchors: Map<string, unknown>
  readonly dynamicAnchors: Map<string, unknown>
}

/** A schema and the resource that it is in. */
export interface Place {
  readonly schema: unknown
  readonly resource: Resource
}

/** Keywords whose value is a schema or a list of schemas, and those whose value has schemas by name. */
const nested = new Set(
  (
    "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems " +
    "propertyNames then unevaluatedItems unevaluatedProperties"
  ).split(" ")
)
const named = new Set(["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"])

/** The schemas directly inside a schema, each with its path. */
export const schemasIn = (
  schema: Keywords
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly below: unknown }> =>
  Object.entries(schema).flatMap(([keyword, value]) => {
    if (named.has(keyword) && isRecord(value)) {
      return Object.entries(value).map(([name, below]) => ({ path: [keyword, name], below }))
    }
    if (!nested.has(keyword)) return []
    if (!Array.isArray(value)) return [{ path: [keyword], below: value }]
    return value.map((below: unknown, index) => ({ path: [keyword, String(index)], below }))
  })

/** Whether a name is a keyword that has schemas inside. */
export const hasSchemas = (keyword: string): boolean => named.has(keyword) || nested.has(keyword)

/** A document as a whole. */
export class SchemaDocument {
  readonly root: Resource
  readonly #resources = new Map<string, Resource>()
  readonly #owners = new Map<object, Resource>()

  constructor(root: unknown) {
    this.root = this.#read(root)
  }

  /** The resource that begins with a schema, or the one around it. */
  resourceOf(schema: object, around: Resource): Resource {
    return this.#owners.get(schema) ?? around
  }

  /** The target of a reference; `undefined` when it is not in this document. */
  resolve(reference: unknown, from: Resource): Place | undefined {
    const [uri, fragment] = uriOf(reference, from.base)
    const resource = this.#resources.get(uri ?? "")
    if (resource === undefined || fragment === undefined) return undefined
    if (fragment === "" || fragment.startsWith("/")) return this.#at(fragment, resource)
    const schema = resource.anchors.get(fragment)
    return schema === undefined ? undefined : this.#placeOf(schema, resource)
  }

  #placeOf(schema: unknown, around: Resource): Place {
    return { schema, resource: isRecord(schema) ? this.resourceOf(schema, around) : around }
  }

  #at(pointer: string, from: Resource): Place | undefined {
    let place: Place = { schema: from.root, resource: from }
    for (const part of pointer.split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
      if (typeof place.schema !== "object" || place.schema === null || !Object.hasOwn(place.schema, key)) return
      place = this.#placeOf(Reflect.get(place.schema, key), place.resource)
    }
    return place
  }

  /** Finds the resources and the anchors of the document. Returns the resource of the root. */
  #read(root: unknown): Resource {
    const first = this.#add(root, "schema:///", draftOf(root, 2020))
    const rest: Array<Place> = [{ schema: root, resource: first }]
    const seen = new Set<unknown>()
    for (let place = rest.pop(); place !== undefined; place = rest.pop()) {
      if (!isRecord(place.schema) || seen.has(place.schema)) continue
      seen.add(place.schema)
      const resource = this.#enter(place.schema, place.resource)
      for (const { below } of schemasIn(place.schema)) rest.push({ schema: below, resource })
    }
    return this.#owners.get(root as object) ?? first
  }

  /** The resource of a schema, whose anchors it gets. */
  #enter(schema: Keywords, around: Resource): Resource {
    const draft = draftOf(schema, around.draft)
    const id = schema[draft === 4 ? "id" : "$id"]
    // In old drafts a reference replaces the keywords beside it.
    if (draft <= 7 && typeof schema["$ref"] === "string") return around
    const [uri, fragment] = typeof id === "string" ? uriOf(id, around.base) : [around.base]
    const own = uri === undefined || uri === around.base ? around : this.#add(schema, uri, draft)
    if (fragment) own.anchors.set(fragment, schema)
    const { $anchor: anchor, $dynamicAnchor: dynamic, $recursiveAnchor: isRecursive } = schema
    if (draft >= 2019) {
      if (typeof anchor === "string") own.anchors.set(anchor, schema)
      if (typeof dynamic === "string") own.anchors.set(dynamic, schema)
      if (typeof dynamic === "string") own.dynamicAnchors.set(dynamic, schema)
      if (isRecursive === true) own.dynamicAnchors.set("", schema)
    }
    return own
  }

  #add(root: unknown, base: string, draft: Draft): Resource {
    const resource = { root, base, draft, anchors: new Map(), dynamicAnchors: new Map() }
    if (!this.#resources.has(base)) this.#resources.set(base, resource)
    if (isRecord(root)) this.#owners.set(root, resource)
    return resource
  }
}

/** The absolute URI of a reference, without its fragment, and the fragment. */
const uriOf = (reference: unknown, base: string): readonly [uri?: string, fragment?: string] => {
  try {
    const url = new URL(String(reference), base)
    const fragment = decodeURIComponent(url.hash.slice(1))
    url.hash = ""
    return [url.href.replace(/#$/, ""), fragment]
  } catch {
    return []
  }
}

const draftOf = (schema: unknown, otherwise: Draft): Draft => {
  const dialect = isRecord(schema) ? schema["$schema"] : undefined
  if (typeof dialect !== "string") return otherwise
  const [, version] = /^https?:\/\/json-schema\.org\/(?:draft-0?|draft\/)?(\d+|schema)\b/.exec(dialect) ?? []
  if (version === undefined) return /openapis\.org/.test(dialect) ? 2020 : 0
  const known = ([4, 6, 7, 2019, 2020] as const).find((draft) => draft === Number(version))
  return known ?? (Number(version) < 4 ? 4 : 2020)
}
