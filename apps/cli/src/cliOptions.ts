/**
 * The command line.
 *
 * @module
 */
import { Command, CommanderError } from "commander"
import { CliError } from "./cliError.ts"

/** A model of a provider. */
interface ModelName {
  readonly provider: string
  /** Absent for the provider's default. */
  readonly id: string | undefined
}

/** What the command line asks for. */
export interface CliOptions {
  readonly model: ModelName | undefined
  readonly baseUrl: string | undefined
}

/** The command line read: options, or a text to print and nothing else to do. */
export type CommandLine =
  | { readonly type: "chat"; readonly options: CliOptions }
  | { readonly type: "text"; readonly text: string }

const about = `Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY choose their provider; without one, and
without flags, an embedded scripted model answers. In the chat, /help lists the commands.

Examples:
  demo
  demo --model anthropic:claude-sonnet-5
  demo --base-url http://localhost:11434/v1 --model llama3.2
  printf 'list the files here\\n' | demo`

/**
 * Reads the arguments after the program's name.
 *
 * **Errors**: throws a `CliError` of one line.
 */
export const parseCommandLine = (args: ReadonlyArray<string>): CommandLine => {
  let printed = ""
  const command = new Command("demo")
    .description("A supervised chat in the terminal.")
    .option("-m, --model <provider:id>", "openai, anthropic, google or scripted, with a model id or its default one")
    .option("-b, --base-url <url>", "an OpenAI-compatible server; --model then names its model")
    .addHelpText("after", `\n${about}`)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => (printed += text), writeErr: () => {} })
  try {
    command.parse(
      [...args].filter((word) => word !== "--"),
      { from: "user" }
    )
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { type: "text", text: printed }
    throw new CliError(`${error.message.replace(/^error: /, "")}; --help shows the options`)
  }
  const { model, baseUrl } = command.opts<{ readonly model?: string; readonly baseUrl?: string }>()
  if (baseUrl !== undefined && !isHttpUrl(baseUrl))
    throw new CliError(`--base-url must be an http(s) URL, not "${baseUrl}"`)
  return { type: "chat", options: { model: model === undefined ? undefined : readModel(model, baseUrl), baseUrl } }
}

const readModel = (text: string, baseUrl: string | undefined): ModelName => {
  const [, provider = "", id = ""] = /^([^:]*):?(.*)$/.exec(text) ?? []
  if (baseUrl !== undefined && !providers.has(provider)) return { provider: "compatible", id: text }
  if (provider === "") throw new CliError(`--model needs a provider, as in openai:gpt-5.5, not "${text}"`)
  if (!providers.has(provider)) {
    throw new CliError(
      `Unknown provider "${provider}"; use one of ${[...providers].join(", ")}, or --base-url for another server`
    )
  }
  return { provider, id: id === "" ? undefined : id }
}

const providers: ReadonlySet<string> = new Set(["openai", "anthropic", "google", "scripted"])

const isHttpUrl = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "http:" || url?.protocol === "https:"
}
