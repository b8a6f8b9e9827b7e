/** The options of a server, and their check: options that would refuse everybody or nobody throw at once. */
import type { RunningTroupe } from "@troupe/chat"
import { optionFindings, ValidationError } from "@troupe/chat/errors"
import * as z from "zod"
import type { May } from "../access/index.ts"
import type { OnDisconnect, PostPolicy, TurnOptions } from "../http/index.ts"
import type { McpEndpoint } from "../routes/index.ts"
import type { Clustered } from "./Clustered.ts"

/** The limits with their defaults. */
export type AllLimits = { readonly [Name in keyof Limits]-?: number }

const defaults: AllLimits = {
  bodyBytes: 33_554_432,
  historyBytes: 33_554_432,
  messageCharacters: 2_000_000,
  conversations: 1_000,
  requestsPerMinute: 600,
  streams: 100,
  answerBytes: 67_108_864,
  waiting: 1_000,
  waitingBytes: 67_108_864,
  fileBytes: 10_737_418_240
}

/** Limits that are never reached. */
export const noLimits: AllLimits = {
  bodyBytes: Number.MAX_SAFE_INTEGER,
  historyBytes: Number.MAX_SAFE_INTEGER,
  messageCharacters: Number.MAX_SAFE_INTEGER,
  conversations: Number.MAX_SAFE_INTEGER,
  requestsPerMinute: Number.MAX_SAFE_INTEGER,
  streams: Number.MAX_SAFE_INTEGER,
  answerBytes: Number.MAX_SAFE_INTEGER,
  waiting: Number.MAX_SAFE_INTEGER,
  waitingBytes: Number.MAX_SAFE_INTEGER,
  fileBytes: Number.MAX_SAFE_INTEGER
}

const names = Object.keys(defaults) as ReadonlyArray<keyof Limits>

/** The limits of the options. `Infinity` is the largest whole number: it has no JSON form, as the nodes of a cluster send it. */
export const limitsOf = (given: Limits = {}): AllLimits => ({
  ...defaults,
  ...Object.fromEntries(
    names.flatMap((name) => {
      const limit = given[name]
      return limit === undefined ? [] : [[name, Math.min(limit, Number.MAX_SAFE_INTEGER)]]
    })
  )
})

/** Text that passes a test. */
const textThat = (test: (text: string) => boolean, reason: string): z.ZodType => z.string(reason).refine(test, reason)

const origin = textThat(
  (text) => URL.canParse(text) && new URL(text).origin === text,
  "must be an origin, as https://app.example.com"
)

const host = textThat(
  (text) => URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text,
  "must be the name of a host, without port"
)

const limit = z.custom((value) => typeof value === "number" && value >= 1, "must be a number, 1 or more")

const ofLimits = Object.fromEntries(names.map((name) => [name, limit.optional()]))

const flag = z.boolean("must be true or false")

/** The names of the options that a turn may have for itself; the chat checks their values. */
const ofTurn = {
  model: z.unknown().optional(),
  instructions: z.unknown().optional(),
  tools: z.unknown().optional(),
  toolChoice: z.unknown().optional(),
  responseFormat: z.unknown().optional(),
  temperature: z.unknown().optional(),
  maxTokens: z.unknown().optional(),
  providerOptions: z.unknown().optional(),
  context: z.unknown().optional(),
  storedMetadata: z.unknown().optional(),
  maxTurns: z.unknown().optional(),
  includeRawChunks: z.unknown().optional(),
  structuredFinalize: z.unknown().optional(),
  structuredFinalizeNudge: z.unknown().optional()
} satisfies { readonly [Name in keyof Required<TurnOptions>]: z.ZodType }

const aFunction = z.custom((value) => typeof value === "function", "must be a function")

const types = z.strictObject(
  {
    troupe: z.custom(
      (value) =>
        typeof value === "object" &&
        value !== null &&
        ("local" in value || typeof Reflect.get(value, "chat") === "function"),
      "must be the Troupe of Troupe.start"
    ),
    chatId: aFunction.optional(),
    onError: aFunction.optional(),
    authorize: z.custom(
      (value) => typeof value === "function",
      "must be a function: without one anybody could ask for anything"
    ),
    limits: z.strictObject(ofLimits, "must be an object").optional(),
    origins: z.array(origin, "must be a list").optional(),
    hosts: z.array(host, "must be a list").optional(),
    trustForwardedHost: flag.optional(),
    basePath: z
      .custom((value) => value === "" || /^(?:\/[\w.-]+)+$/u.test(String(value)), "must be a path, as /api")
      .optional(),
    models: z
      .record(
        z.string().min(1).max(256),
        z.strictObject(ofTurn, "must have options of a turn only"),
        "must be an object"
      )
      .optional(),
    clientTools: flag.optional(),
    posts: z
      .strictObject(
        {
          stale: z.enum(["refuse", "follow"]).optional(),
          calls: z.enum(["refuse", "cancel"]).optional(),
          approvals: z.enum(["refuse", "deny"]).optional(),
          history: z.enum(["add", "replace"]).optional()
        } satisfies { readonly [Name in keyof PostPolicy]: z.ZodType },
        "must be an object"
      )
      .optional(),
    mcp: z
      .custom(
        (value) => typeof value === "object" && value !== null && typeof Reflect.get(value, "fetch") === "function",
        "must be the service of Mcp.serve"
      )
      .optional(),
    onDisconnect: z.enum(["continue", "cancel"], 'must be "continue" or "cancel"').optional(),
    exposeToolErrors: flag.optional()
  } satisfies { readonly [Name in keyof Required<ServerOptions>]: z.ZodType },
  "must be an object"
)

/** Throws a `ValidationError` (`invalid_options`) that names each option with an invalid value. */
export const checkServerOptions = (options: ServerOptions): void => {
  const found = optionFindings(types, options, (name) =>
    names.some((known) => known === name) ? `unknown; write limits: { ${name}: … }` : undefined
  )
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

/** The authenticated owner, and what the owner may do with its conversations. */
export interface Authorized {
  /** Text of 1 to 256 characters without control characters; any other is refused with `invalid_owner`. */
  readonly owner: string
  /** What the owner may do beside chatting. Default: the defaults of {@link May}. */
  readonly may?: May | undefined
}

/** The caller is refused. */
export interface Denied {
  /** The status of the answer: 401 without a valid identity, 403 without permission. */
  readonly deny: 401 | 403
}

/** The limits for clients. */
export interface Limits {
  /** The bytes of a request's body. Default: 33,554,432. */
  readonly bodyBytes?: number | undefined
  /**
   * The bytes of a body with a history that its client posts with each message. Of that history only the new part counts
   * for `bodyBytes`. Default: 33,554,432.
   */
  readonly historyBytes?: number | undefined
  /**
   * The characters of one message, without the data of its images and files: those have the bound `maxFileBytes` of the
   * Troupe. Default: 2,000,000.
   */
  readonly messageCharacters?: number | undefined
  /** The live conversations of one owner. Default: 1,000. */
  readonly conversations?: number | undefined
  /** The requests of one owner in a minute. Default: 600. */
  readonly requestsPerMinute?: number | undefined
  /** The open streams of one owner. Default: 100. */
  readonly streams?: number | undefined
  /**
   * The bytes of one owner's answers that clients have not taken yet; for a frame of a stream, its characters. Answers and
   * frames up to 16,384 are not counted, and a single answer is never refused. Default: 67,108,864.
   */
  readonly answerBytes?: number | undefined
  /** The requests of one owner that have no answer yet, and its messages that wait in conversations, together. Default: 1,000. */
  readonly waiting?: number | undefined
  /**
   * The bytes of the bodies of what {@link Limits.waiting} counts; of a posted history, the part that is kept. A single body is never
   * refused. Default: 67,108,864.
   */
  readonly waitingBytes?: number | undefined
  /**
   * The bytes of the images and files that all conversations of one owner have in the store together. Requests with more are refused
   * until conversations are deleted; results of tools and replies are stored in any case, and count. Default: 10,737,418,240.
   */
  readonly fileBytes?: number | undefined
}

/** The request of an unexpected error. */
export interface Unexpected {
  /** The id that the client got. */
  readonly id: string
  /** The method of the request. */
  readonly method: string
  /** The path of the request. */
  readonly path: string
}

/** What a server serves, and to whom. */
export interface ServerOptions {
  /** The Troupe of `Troupe.start`, or of `Cluster.start` of `@troupe/cluster`. */
  readonly troupe: RunningTroupe | Clustered
  /** Authenticates the caller. Without an owner the request is refused. */
  readonly authorize: (request: Request) => Authorized | Denied | Promise<Authorized | Denied>
  /** The bounds of requests, streams and owners. Default: the defaults of `Limits`. */
  readonly limits?: Limits | undefined
  /** The other origins whose pages may call the server, as `https://app.example.com`. Default: none. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** The host names of this server, without port. Default: any, but see `Node.listen`. */
  readonly hosts?: ReadonlyArray<string> | undefined
  /**
   * Whether the header `x-forwarded-host` names the host that the client requested, instead of `host`. Default: `false`.
   * Set it only behind a proxy that sets or removes this header in every request: a client can send it too.
   */
  readonly trustForwardedHost?: boolean | undefined
  /** The prefix of all paths. Default: none. On a node of a cluster each server has another one. */
  readonly basePath?: string | undefined
  /**
   * Makes the Troupe's id of an owner's conversation. **Contract**: all ids of an owner, and no others, begin with
   * `chatId(owner, "")`. Default: the owner's name, escaped, then a slash and the id.
   */
  readonly chatId?: ((owner: string, id: string) => string) | undefined
  /**
   * Whether clients see the text of a tool's error, as the model does. Default: `false`: they see the call's outcome and
   * its id. The program's own events, hooks and traces have the error under that id. A handler that has a text for clients
   * returns the text as a value.
   */
  readonly exposeToolErrors?: boolean | undefined
  /**
   * The effect of a disconnect on the turn that the client read. `"continue"`: the turn continues, and a client that
   * returns finds it. `"cancel"`: the turn is cancelled when its last reader has left. Default: `"continue"`.
   */
  readonly onDisconnect?: OnDisconnect | undefined
  /**
   * The models that clients of OpenAI's protocols may name, and the options of a turn with each: `{ fast: { model: "small" } }`.
   * Default: none but `troupe`, which is the engine's model.
   */
  readonly models?: Readonly<Record<string, TurnOptions>> | undefined
  /**
   * Whether clients of the AI SDK may post `tools` and `system` with a message, as assistant-ui does: the tools are manual
   * tools of that turn, and `system` follows the instructions of the Troupe. Default: `false`, which ignores both.
   */
  readonly clientTools?: boolean | undefined
  /**
   * What a posted message does while calls wait, or behind a history that the conversation does not have. Default: the choices of
   * each protocol, which the page on posts lists.
   */
  readonly posts?: Partial<PostPolicy> | undefined
  /**
   * Agents and tools for MCP clients, at the path `/mcp`: `Mcp.serve(troupe, { agents })` of `@troupe/mcp`. `authorize`, the limits and the
   * origins of this server hold for them; `close` ends it. Default: none.
   */
  readonly mcp?: McpEndpoint | undefined
  /** Called with unexpected errors. Default: a report of the Troupe's `logger`, with the id that the client got. */
  readonly onError?: ((error: unknown, about: Unexpected) => void | Promise<void>) | undefined
}
