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

/** The options of the chat. */
export interface CliOptions {
  readonly model: ModelName | undefined
  readonly baseUrl: string | undefined
}

/** The options of `observe`. */
export interface ObserveOptions {
  /** The base URL of the server's paths. */
  readonly url: string
  /** The headers of each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Prints the tree and ends. */
  readonly once: boolean
  /** The address of the node of a cluster that is observed first. Default: the node that the URL reaches. */
  readonly node?: string | undefined
}

/** A parsed command line: options, or only a text to print. */
export type CommandLine =
  | { readonly type: "chat"; readonly options: CliOptions }
  | { readonly type: "observe"; readonly options: ObserveOptions }
  | { readonly type: "text"; readonly text: string }

const about = `Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY choose their provider; without one, and
without flags, an embedded scripted model answers. In the chat, /help lists the commands.

Examples:
  demo
  demo --model anthropic:claude-sonnet-5
  demo --base-url http://localhost:11434/v1 --model llama3.2
  printf 'list the files here\\n' | demo
  demo observe http://127.0.0.1:5173/troupe`

/**
 * Reads the arguments after the program's name.
 *
 * **Errors**: throws a `CliError` of one line.
 */
export const parseCommandLine = (args: ReadonlyArray<string>): CommandLine => {
  const words = args.filter((word) => word !== "--")
  return words[0] === "observe" ? parseObserve(words.slice(1)) : parseChat(words)
}

const parseChat = (words: ReadonlyArray<string>): CommandLine => {
  const command = new Command("demo")
    .description("A supervised chat in the terminal. `demo observe` shows a running server's processes.")
    .option("-m, --model <provider:id>", "openai, anthropic, google or scripted, with a model id or its default one")
    .option("-b, --base-url <url>", "an OpenAI-compatible server; --model then names its model")
    .addHelpText("after", `\n${about}`)
  const text = parsed(command, words)
  if (text !== undefined) return { type: "text", text }
  const { model, baseUrl } = command.opts<{ readonly model?: string; readonly baseUrl?: string }>()
  if (baseUrl !== undefined && !isHttpUrl(baseUrl))
    throw new CliError(`--base-url must be an http(s) URL, not "${baseUrl}"`)
  return { type: "chat", options: { model: model === undefined ? undefined : readModel(model, baseUrl), baseUrl } }
}

const parseObserve = (words: ReadonlyArray<string>): CommandLine => {
  const command = new Command("demo observe")
    .description("The processes of a running server, live. Without a terminal: the tree, then a line for each change.")
    .argument("[url]", "where the server's paths begin", "http://127.0.0.1:5173/troupe")
    .option("-H, --header <name: value>", "sent with each request; may be said more than once", collected, [])
    .option("--once", "print the tree and end", false)
    .option("-n, --node <address>", "the node of a cluster that is observed first")
  const text = parsed(command, words)
  if (text !== undefined) return { type: "text", text }
  const { header, once, node } = command.opts<{
    readonly header: ReadonlyArray<string>
    readonly once: boolean
    readonly node?: string
  }>()
  const [url = ""] = command.processedArgs as ReadonlyArray<string>
  if (!isHttpUrl(url)) throw new CliError(`observe needs an http(s) URL, not "${url}"`)
  return { type: "observe", options: { url, headers: Object.fromEntries(header.map(readHeader)), once, node } }
}

const collected = (value: string, before: ReadonlyArray<string>): ReadonlyArray<string> => [...before, value]

/** Parses the words; returns the text to print instead, if any. */
const parsed = (command: Command, words: ReadonlyArray<string>): string | undefined => {
  let printed = ""
  command
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => (printed += text), writeErr: () => {} })
  try {
    command.parse([...words], { from: "user" })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return printed
    throw new CliError(`${error.message.replace(/^error: /, "")}; --help shows the options`)
  }
  return undefined
}

const readHeader = (text: string): readonly [name: string, value: string] => {
  const [, name = "", value = ""] = /^([\w-]+):[ \t]*([\x20-\x7E\t]*)$/.exec(text) ?? []
  if (name === "") throw new CliError(`--header must be "name: value", not "${text}"`)
  return [name, value]
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
