/**
 * The command line: its options, and the refusal of any other.
 *
 * @module
 */
import { parseArgs } from "node:util"
import { type Choices, type ListName, lists, parts, type Template } from "./choices.ts"
import { CreateError } from "./CreateError.ts"

/** What the command line says. A choice that it does not have is absent. */
export interface CommandLine {
  readonly folder: string | undefined
  readonly choices: { readonly [Name in ListName]?: Choices[Name] | undefined }
  /** Whether the questions are left out, and their defaults taken. */
  readonly yes: boolean
  /** Whether the packages are installed; a question, if absent. */
  readonly install: boolean | undefined
  readonly help: boolean
}

/** The text of `--help`. */
export const help = `npm create troupe@latest [folder] -- [options]

  --template   ${lists.template.join(", ")}
  --provider   ${lists.provider.join(", ")}
  --store      ${lists.store.join(", ")}
  --manager    ${lists.manager.join(", ")}; the one that runs this command, if absent
  --install    installs the packages; --no-install does not
  --yes        asks nothing: what is not given gets the first value of its list, and nothing is installed
  --help       prints this text
`

const sentence = (values: ReadonlyArray<string>): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(values)

const parsed = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      allowNegative: true,
      options: {
        template: { type: "string", short: "t" },
        provider: { type: "string" },
        store: { type: "string" },
        manager: { type: "string" },
        install: { type: "boolean" },
        yes: { type: "boolean", short: "y" },
        help: { type: "boolean", short: "h" }
      }
    })
  } catch (error) {
    const message = error instanceof Error ? error.message.split(".", 1).join("") : String(error)
    throw new CreateError("unknown_option", `${message}. --help lists the options.`, { cause: error })
  }
}

/** The value of an option, which is in its list. */
const chosen = <Name extends ListName>(name: Name, value: string | undefined): Choices[Name] | undefined => {
  if (value === undefined) return undefined
  const found = lists[name].find((one) => one === value)
  if (found !== undefined) return found as Choices[Name]
  throw new CreateError("unknown_choice", `--${name} ${value} does not exist: write ${sentence(lists[name])}.`)
}

/** Refuses an option that the template does not have. */
export const checkOffered = (template: Template, choices: CommandLine["choices"]): void => {
  for (const name of ["provider", "store"] as const) {
    const value = choices[name]
    if (value === undefined || parts[template].options.includes(name)) continue
    const others = lists.template.filter((one) => parts[one].options.includes(name))
    const message = `The template ${template} has no choice of --${name}. The templates ${new Intl.ListFormat("en").format(others)} have one.`
    throw new CreateError("not_offered", message)
  }
}

/**
 * Reads the command line.
 *
 * **Errors**: throws a `CreateError`: `unknown_option`, `unknown_choice` or `not_offered`.
 */
export const readCommandLine = (args: ReadonlyArray<string>): CommandLine => {
  const { values, positionals } = parsed(args)
  const [folder, ...others] = positionals
  if (others.length > 0) {
    throw new CreateError(
      "unknown_option",
      `There is one folder, and not "${others.join(" ")}" too. With npm, write -- before the options.`
    )
  }
  const choices = {
    template: chosen("template", values.template),
    provider: chosen("provider", values.provider),
    store: chosen("store", values.store),
    manager: chosen("manager", values.manager)
  }
  if (choices.template !== undefined) checkOffered(choices.template, choices)
  return { folder, choices, yes: values.yes === true, install: values.install, help: values.help === true }
}
