/**
 * The ids of OpenAI's responses and of their items.
 *
 * RESPID1. Every id of a stored response names its conversation, and the place of the response in it. So does the id of each
 *          of its items and calls. A request that has such an id continues there, whichever of them its client sends.
 */

/** Where a response begins. */
export interface ResponsePlace {
  /** The owner's id of the conversation. */
  readonly conversation: string
  /** The number of messages before the response and its input. */
  readonly at: number
  /** The time of its beginning, in seconds. */
  readonly created: number
  readonly model: string
}

export interface ResponseIds {
  readonly response: string
  readonly item: (kind: ItemKind, index: number) => string
  /** The client's id of a call, from the model's. */
  readonly call: (toolCallId: string) => string
}

type ItemKind = "msg" | "rs" | "fc" | "mcp" | "ig"

/** The most characters of an id that is read. */
export const longestId = 4_096

/** The ids of a response that is stored. */
export const idsOf = (place: ResponsePlace): ResponseIds => {
  const { conversation, at, created, model } = place
  const key = encoded(JSON.stringify([conversation, at, created, model]))
  return { ...idsUnder(key), call: (toolCallId) => `call_${key}.${toolCallId}` }
}

/** The ids of a response that is not stored: nothing continues from them. */
export const idsUnder = (key: string): ResponseIds => ({
  response: `resp_${key}`,
  item: (kind, index) => `${kind}_${key}.${index}`,
  call: (toolCallId) => toolCallId
})

const shape = /^(?:resp|msg|rs|fc|mcp|ig|call)_(?<key>[\w-]+)(?:\.(?<rest>.*))?$/su

/** The place that an id names; `undefined` for an id that this server did not make. */
export const placeIn = (id: string): ResponsePlace | undefined => {
  const key = id.length > longestId ? undefined : shape.exec(id)?.groups?.["key"]
  const parts: unknown = key === undefined ? undefined : decoded(key)
  if (!Array.isArray(parts) || parts.length !== 4) return undefined
  const [conversation, at, created, model] = parts as ReadonlyArray<unknown>
  return typeof conversation === "string" &&
    Number.isSafeInteger(at) &&
    Number(at) >= 0 &&
    Number.isSafeInteger(created) &&
    typeof model === "string"
    ? { conversation, at: Number(at), created: Number(created), model }
    : undefined
}

/** The model's id of a call, from the client's. */
export const toolCallIdIn = (id: string): string =>
  placeIn(id) === undefined ? id : (shape.exec(id)?.groups?.["rest"] ?? id)

const encoded = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

const decoded = (key: string): unknown => {
  try {
    const bytes = atob(key.replaceAll("-", "+").replaceAll("_", "/"))
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, codeOf)))
  } catch {
    return undefined
  }
}

const codeOf = (unit: string): number => unit.charCodeAt(0)
