/**
 * Finds unknown names, and the known name that is closest to each.
 *
 * OPT1. An unknown option is refused, and the finding names the known option that it resembles, or that another library calls so.
 */
import type { Finding } from "./ChatError.ts"
import { closestName } from "./closestName.ts"

/** What other libraries call an option, in lower case without `_`, and the options that may be meant. */
const foreign: Readonly<Record<string, ReadonlyArray<string>>> = {
  abortsignal: ["signal"],
  approved: ["type"],
  callback: ["execute", "handler"],
  func: ["execute", "handler"],
  handler: ["execute"],
  execute: ["handler"],
  inputschema: ["parameters"],
  maxiterations: ["maxTurns"],
  maxcompletiontokens: ["maxTokens"],
  maxoutputtokens: ["maxTokens"],
  maxretries: ["retry"],
  maxsteps: ["maxTurns"],
  needsapproval: ["permissions"],
  onfinish: ["onEvent"],
  onstepfinish: ["onEvent"],
  outputschema: ["schema"],
  recursionlimit: ["maxTurns"],
  run: ["execute", "handler"],
  schema: ["parameters"],
  stopwhen: ["haltWhen", "maxTurns"],
  system: ["instructions"],
  systemprompt: ["instructions"],
  toolapproval: ["permissions"]
}

/** Advice for the words of other libraries that are no option here. */
const elsewhere: Readonly<Record<string, string>> = {
  messages: "messages are the thread: an argument of its own, or the input of chat.send",
  prompt: "the input is the thread: an argument of its own, or the input of chat.send",
  system: "instructions are an option of Chat.run, of Troupe.start and of agents",
  systemprompt: "instructions are an option of Chat.run, of Troupe.start and of agents",
  maxsteps: "maxTurns is an option of Chat.run, of Troupe.start and of agents"
}

/** The known name that is meant by an unknown one, and the advice if there is none. */
const meaningOf = (name: string, allowed: Iterable<string>): { readonly meant?: string; readonly advice?: string } => {
  const names = [...allowed]
  const word = name.toLowerCase().replaceAll("_", "")
  const other = Object.hasOwn(foreign, word) ? foreign[word]?.find((one) => names.includes(one)) : undefined
  if (other !== undefined) return { meant: other }
  const advice = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined
  if (advice !== undefined) return { advice }
  const meant = closestName(name, names)
  return meant === undefined ? {} : { meant }
}

/** A finding for each member that has no known name. */
export const unknownNames = (fields: object, names: ReadonlyArray<string>): ReadonlyArray<Finding> =>
  Object.keys(fields)
    .filter((name) => !names.includes(name))
    .map((name) => ({ field: [name], reason: unknownName(name, names) }))

/** The reason of a finding about one unknown name. */
export const unknownName = (name: string, names: ReadonlyArray<string>): string =>
  names.length === 0 ? "unknown" : `unknown; ${adviceOn(name, names)}`

/** The reason of a finding about an option that does not exist; `otherwise` is the advice when no known name is close. */
export const unknownOption = (name: string, names: Iterable<string>, otherwise?: string): string => {
  const { meant, advice = otherwise } = meaningOf(name, names)
  if (meant !== undefined) return `unknown_option; did you mean ${meant}?`
  return advice === undefined ? "unknown_option" : `unknown_option; ${advice}`
}

const adviceOn = (name: string, names: ReadonlyArray<string>): string => {
  const { meant, advice = `use ${names.join(", ")}` } = meaningOf(name, names)
  return meant === undefined ? advice : `did you mean ${meant}?`
}
