/**
 * The questions in the terminal, for what the command line does not say.
 *
 * @module
 */
import { cancel, confirm, intro, isCancel, select, text } from "@clack/prompts"
import { type Choices, type ListName, lists, type Manager, parts, titles } from "./choices.ts"
import { checkOffered, type CommandLine } from "./commandLine.ts"

/** Everything that a project needs. */
export interface Plan {
  readonly folder: string
  readonly choices: Choices
  readonly install: boolean
}

/** The folder of a project without a name. */
const defaultFolder = "my-troupe"

/** The plan of a command line without questions. */
export const planWithoutQuestions = (commandLine: CommandLine, manager: Manager): Plan => {
  const choices: Choices = {
    template: commandLine.choices.template ?? lists.template[0],
    provider: commandLine.choices.provider ?? lists.provider[0],
    store: commandLine.choices.store ?? lists.store[0],
    manager: commandLine.choices.manager ?? manager
  }
  checkOffered(choices.template, commandLine.choices)
  return { folder: commandLine.folder ?? defaultFolder, choices, install: commandLine.install ?? false }
}

/** The answer to a question. A person who leaves ends the program. */
const answered = async <Value>(question: Promise<Value>): Promise<Exclude<Value, symbol>> => {
  const answer = await question
  if (!isCancel(answer)) return answer as Exclude<Value, symbol>
  cancel("Nothing was created.")
  return process.exit(1)
}

const ask = async <Name extends ListName>(name: Name, message: string, first: string): Promise<Choices[Name]> => {
  const options = lists[name].map((value) => ({
    value,
    label: (titles[name] as Record<string, string>)[value] ?? value
  }))
  const initialValue = lists[name].find((value) => value === first)
  return (await answered(
    select<string>({ message, options, initialValue: initialValue ?? lists[name][0] })
  )) as Choices[Name]
}

/** Asks for what the command line does not say. */
export const planWithQuestions = async (commandLine: CommandLine, manager: Manager): Promise<Plan> => {
  const { choices } = commandLine
  intro("A new project with Troupe")
  const folder =
    commandLine.folder ??
    (await answered(text({ message: "Which folder?", placeholder: defaultFolder, defaultValue: defaultFolder })))
  const template = choices.template ?? (await ask("template", "What do you build?", "terminal"))
  checkOffered(template, choices)
  const { options } = parts[template]
  const has = (name: "provider" | "store"): boolean => options.includes(name) && choices[name] === undefined
  const provider = has("provider") ? await ask("provider", "Which model answers?", "scripted") : choices.provider
  const store = has("store") ? await ask("store", "Where are conversations kept?", "memory") : choices.store
  const chosen: Choices = {
    template,
    provider: provider ?? lists.provider[0],
    store: store ?? lists.store[0],
    manager: choices.manager ?? (await ask("manager", "Which package manager?", manager))
  }
  const install = commandLine.install ?? (await answered(confirm({ message: "Install the packages now?" })))
  return { folder, choices: chosen, install }
}
