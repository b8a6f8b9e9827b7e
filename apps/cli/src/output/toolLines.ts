/**
 * Tool calls as lines of text.
 *
 * @module
 */
import { stripVTControlCharacters } from "node:util"
import type { ToolCallView } from "@troupe/chat/chats"
import { outcomeOf, type Progress } from "@troupe/scripted"
import type { Paint } from "./paint.ts"

/** A finished call and its outcome. */
export interface FinishedCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>> | null
  readonly content: string
  readonly elapsedMs: number | undefined
}

/** A call that is not finished. */
export interface LiveCall {
  readonly id: string
  readonly name: string
  readonly status: ToolCallView["status"]
  readonly elapsedMs: number
  readonly timeoutMs: number | undefined
  readonly progress: Progress | undefined
  /** The sub-agent of the call, and its words so far. */
  readonly child?: { readonly agent: string; readonly text: string } | undefined
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

/** One frame of a spinner. */
export const spinner = (elapsedMs: number): string => frames[Math.floor(elapsedMs / 80) % frames.length] ?? ""

/** A readable duration: `12 ms`, `3.4 s`, `2 min 5 s`. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

/** The line of a finished call. */
export const finishedLine = (call: FinishedCall, paint: Paint): string => {
  const outcome = outcomeOf(call.content)
  const took = call.elapsedMs === undefined ? "" : paint.quiet(`  ${duration(call.elapsedMs)}`)
  const what = `${paint.strong(call.name)}${paint.quiet(argumentText(call.arguments))}`
  if (!outcome.failed) return `${paint.good("✔")} ${what} ${paint.quiet(`→ ${summary(outcome.text)}`)}${took}`
  const [reason = ""] = outcome.error.split(":")
  const word = failureWords[reason]
  const why = word === undefined ? outcome.error : outcome.error.slice(reason.length + 1)
  return `${reason === "cancelled" ? paint.warn("■") : paint.bad("✖")} ${what} ${paint.bad(word ?? "failed")}${paint.quiet(`: ${summary(why)}`)}${took}`
}

/** The reason why a call does not run yet. */
const waiting: { readonly [Status in LiveCall["status"]]?: string } = {
  queued: "queued",
  gating: "waits for permission",
  suspended: "waits for an answer"
}

/** The current line of an unfinished call. */
export const liveLine = (call: LiveCall, paint: Paint): string => {
  const waits = waiting[call.status]
  if (waits !== undefined) return paint.quiet(`· ${call.name} ${waits}`)
  const deadline = call.timeoutMs === undefined ? "" : ` · deadline ${duration(call.timeoutMs)}`
  const bar = call.progress === undefined ? "" : `${progressBar(call.progress)}  `
  const state = call.status === "cancelling" ? paint.warn(" cancelling") : ""
  const said = call.child === undefined || call.child.text === "" ? "" : `  ${newest(call.child.text)}`
  return `${paint.accent(spinner(call.elapsedMs))} ${paint.strong(call.name)}${state} ${bar}${paint.quiet(`${duration(call.elapsedMs)}${deadline}`)}${said}`
}

/** The newest words of a text, on one line. */
const newest = (text: string): string => {
  const line = shortened(text, text.length)
  return line.length <= 60 ? line : `…${line.slice(-59)}`
}

/** A progress bar: `▓▓▓▓░░░░ 50%`. */
export const progressBar = ({ done, total }: Progress): string => {
  const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total))
  const full = Math.round(share * 16)
  return `${"▓".repeat(full)}${"░".repeat(16 - full)} ${Math.round(share * 100)}%`
}

/** A short text of a call's arguments: `(path: ".")`. */
export const argumentText = (args: Readonly<Record<string, unknown>> | null): string => {
  if (args === null) return "(not JSON)"
  const parts = Object.entries(args).map(
    ([name, value]) => `${name}: ${shortened(JSON.stringify(value) ?? "null", 48)}`
  )
  return `(${shortened(parts.join(", "), 72)})`
}

/**
 * Removes escape sequences and control characters from a foreign text. Characters that reverse, split or hide the text
 * around them are shown by number: `U+202E`.
 */
export const visible = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/(?![\t\n])\p{Cc}/gu, "")
    .replaceAll(unseen, (character) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`)

/** Overrides, embeddings and isolates of direction, separators of lines and paragraphs, and spaces and fillers without width. */
const unseen = /[\u200B\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g

/** Truncates a text to a length, on one line. */
export const shortened = (text: string, most: number): string => {
  const line = visible(text).replaceAll(/\s+/g, " ").trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

const failureWords: Readonly<Record<string, string>> = {
  timeout: "timed out",
  handler_raised: "crashed",
  handler_exit: "crashed",
  cancelled: "cancelled",
  invalid_arguments: "refused",
  denied: "denied",
  not_found: "not found"
}

const summary = (text: string): string => {
  const lines = text.trim().split("\n").length
  return lines > 1 ? `${lines} lines` : shortened(text, 80)
}
