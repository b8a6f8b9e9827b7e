/**
 * Converts tool results to an answer for a person. The answer contains nothing that the results do not.
 *
 * @module
 */
import { relative } from "node:path"

/** A tool call and the text of its result. */
export interface AnsweredCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly content: string
}

/** The content of a tool result: its text, or its error. */
export type ToolOutcome =
  | { readonly failed: false; readonly text: string }
  | { readonly failed: true; readonly error: string }

const mostNames = 60
const mostLines = 20

/** Reads the text of a tool message: plain, or as JSON with the text or the error inside. */
export const outcomeOf = (content: string): ToolOutcome => {
  const value = jsonObject(content)
  if (typeof value?.["error"] === "string") return { failed: true, error: value["error"] }
  return { failed: false, text: typeof value?.["content"] === "string" ? value["content"] : content }
}

/** The answer to one call, in a few lines. */
export const describeCall = (call: AnsweredCall, folder: string): string => {
  const outcome = outcomeOf(call.content)
  if (outcome.failed) return describeFailure(call, outcome.error)
  switch (call.name) {
    case "list_directory":
      return describeListing(argument(call, "path"), outcome.text)
    case "read_text_file":
      return describeFile(argument(call, "path"), outcome.text)
    case "search_files":
      return describeFound(argument(call, "pattern"), foundPaths(call.content, folder))
    case "calculate":
      return `${argument(call, "expression")} = ${outcome.text}`
    case "slow_job":
      return `The slow job is done: it ${outcome.text}.`
    case "weather":
      return outcome.text
    case "scout":
      return "The scout is on its way, in the background. Ask the scout how far it is, or send the scout elsewhere."
    case "tell":
      return `Your message to the scout is ${JSON.stringify(jsonObject(outcome.text)?.["receipt"] ?? outcome.text)}.`
    case "research":
      return `The researcher for “${argument(call, "input")}” says: ${outcome.text}`
    default:
      return `${call.name} says: ${outcome.text}`
  }
}

/** The paths that a search found, relative to the folder. */
export const foundPaths = (content: string, folder: string): ReadonlyArray<string> => {
  const outcome = outcomeOf(content)
  if (outcome.failed || outcome.text.trim() === "No matches found") return []
  return lines(outcome.text).map((path) => relative(folder, path) || ".")
}

const describeFailure = (call: AnsweredCall, error: string): string => {
  const [reason = ""] = error.split(":")
  if (reason === "timeout")
    return `The ${call.name} call was stopped at its deadline (${error}). Nothing else was disturbed.`
  if (reason === "handler_raised" || reason === "handler_exit") {
    return `The ${call.name} call crashed (${error}). That is this call's error and no more: the chat goes on.`
  }
  if (reason === "cancelled") return `The ${call.name} call was cancelled.`
  return `The ${call.name} call failed: ${error}`
}

const describeListing = (path: string, text: string): string => {
  const entries = lines(text)
  const folders = entries.filter((entry) => entry.startsWith("[DIR]")).map((entry) => `${entry.slice(5).trim()}/`)
  const files = entries.filter((entry) => entry.startsWith("[FILE]")).map((entry) => entry.slice(6).trim())
  const place = path === "." ? "This folder" : path
  if (folders.length + files.length === 0) return `${place} is empty.`
  const holds = [count(folders.length, "folder"), count(files.length, "file")]
    .filter((part) => part !== "")
    .join(" and ")
  return `${place} holds ${holds}:\n${bounded([...folders.toSorted(), ...files.toSorted()], mostNames, "name")}`
}

const describeFile = (path: string, text: string): string => {
  if (text.trim() === "") return `${path} is empty.`
  const all = text.replace(/\n$/, "").split("\n")
  return `${path} has ${count(all.length, "line")}:\n${bounded(all, mostLines, "line")}`
}

const describeFound = (pattern: string, found: ReadonlyArray<string>): string =>
  found.length === 0
    ? `No name matches ${pattern}.`
    : `${count(found.length, "name")} ${found.length === 1 ? "matches" : "match"} ${pattern}:\n${bounded(found, mostNames, "name")}`

const bounded = (all: ReadonlyArray<string>, most: number, noun: string): string => {
  const shown = all.slice(0, most).map((line) => `  ${line}`.trimEnd())
  if (all.length > most) shown.push(`  … and ${count(all.length - most, `more ${noun}`)}`)
  return shown.join("\n")
}

const count = (many: number, noun: string): string => (many === 0 ? "" : `${many} ${noun}${many === 1 ? "" : "s"}`)

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line.trim() !== "")

const argument = (call: AnsweredCall, name: string): string => {
  const value = call.arguments[name]
  return typeof value === "string" ? value : JSON.stringify(value ?? null)
}

const jsonObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  if (!text.startsWith("{")) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
