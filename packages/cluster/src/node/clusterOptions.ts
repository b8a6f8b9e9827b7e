/** The options of a node, and their check. */
import type { TroupeOptions } from "@troupe/chat"
import { optionFindings } from "@troupe/chat/errors"
import type { Store } from "@troupe/chat/store"
import * as z from "zod"
import type { Tls } from "../inner/index.ts"
import { ClusterError, type Placement } from "../placement/index.ts"

/** How a node takes part in a cluster. */
export interface ClusterOptions {
  /** The database of the placement, as `postgres://…`. Required unless `placement` is given. */
  readonly url?: string | undefined
  /**
   * The schema of the placement's tables, which is created. Clusters that share a database each have their own. Default:
   * `"troupe"`.
   */
  readonly schema?: string | undefined
  /** Where this node listens for other nodes: `10.0.0.7:7700`. Port 0 is any free one. It must not be reachable from outside. */
  readonly listen: string
  /** The address under which other nodes reach `listen`. Default: `listen`. Required when that is `0.0.0.0` or `[::]`. */
  readonly address?: string | undefined
  /** The secret that all nodes share, at least 16 characters. */
  readonly secret: string
  /** The certificates for the traffic between nodes. Default: none, the traffic is signed and not encrypted. */
  readonly tls?: Tls | undefined
  /** A `"gateway"` takes no conversations and only forwards. Default: `"home"`. */
  readonly role?: "home" | "gateway" | undefined
  /** How long a node that does not renew its lease stays the home of its conversations, in milliseconds. Default: 5,000. */
  readonly leaseMs?: number | undefined
  /** How long the conversations of a node may take to leave when it stops, in milliseconds. Default: 25,000. */
  readonly drainMs?: number | undefined
  /**
   * What happens to a turn that a move interrupted: its next home retries it, at most twice after homes that are gone (`"resume"`), or it waits for `retry`
   * (`"interrupt"`). Default: `"resume"`.
   */
  readonly onMoved?: "resume" | "interrupt" | undefined
  /** Makes the placement of this node, by its address. For tests: `TestCluster`. Default: the engine on PostgreSQL. */
  readonly placement?: ((address: string) => Promise<Placement>) | undefined
  /** Called with failures that no caller gets, such as a chat that could not be started after a move. Default: a report of `logger`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The options of a node of a cluster: those of `Troupe.start`, and `cluster`. */
export interface ClusterNodeOptions extends TroupeOptions {
  /** How the node takes part in its cluster. */
  readonly cluster: ClusterOptions
}

const fewestCharacters = 16

/** The hosts of a listener for all addresses of a machine. No other node can connect to them. */
const everyHost = /^(?:0\.0\.0\.0|\[::\]):/u

const address = z.custom<string>(
  (text) => typeof text === "string" && /^[^/?#@\s]+:\d+$/u.test(text) && URL.canParse(`http://${text}`),
  "must be a host and a port, as 10.0.0.7:7700"
)
const text = z.string("must be text").min(1, "must be text")
const pem = z.custom((value) => typeof value === "string" || value instanceof Uint8Array, "must be a text or bytes")
const durationMs = z
  .number("must be a number of milliseconds more than 0")
  .positive("must be a number of milliseconds more than 0")
const functionType = z.custom((value) => typeof value === "function", "must be a function")

const types = z.strictObject(
  {
    url: text.optional(),
    schema: text.optional(),
    listen: address,
    address: address.optional(),
    secret: z.custom(
      (value) => typeof value === "string" && value.length >= fewestCharacters,
      `must be a text of at least ${fewestCharacters} characters, the same on every node`
    ),
    tls: z.strictObject({ key: pem, cert: pem, ca: pem.optional() }, "must be { key, cert, ca }").optional(),
    role: z.enum(["home", "gateway"], 'must be "home" or "gateway"').optional(),
    leaseMs: durationMs.optional(),
    drainMs: durationMs.optional(),
    onMoved: z.enum(["resume", "interrupt"], 'must be "resume" or "interrupt"').optional(),
    placement: functionType.optional(),
    onError: functionType.optional()
  } satisfies { readonly [Name in keyof Required<ClusterOptions>]: z.ZodType },
  "must be an object with url, listen and secret"
)

/** What the types cannot express. */
const whole = types.superRefine((options, context) => {
  const { listen, address: given = listen, url, placement } = options
  const report = (name: string, message: string): void => {
    context.addIssue({ code: "custom", path: [name], message })
  }
  if (everyHost.test(given)) {
    report("address", `must be the one of this machine, as 10.0.0.7:7700: other nodes cannot reach ${given}`)
  }
  if (url === undefined && placement === undefined) report("url", "must be that of the PostgreSQL database")
})

/** Throws a `ClusterError` (`invalid_options`) for options that make no node. */
export const checkClusterOptions = (cluster: ClusterOptions): void => {
  const problems = optionFindings(whole, cluster).map(({ field, reason }) => [field.join("."), reason])
  if (problems.length === 0) return
  const all = problems.map(([name, reason]) => (name === "" ? reason : `${name} ${reason}`)).join("; ")
  throw new ClusterError("invalid_options", `cluster: ${all}`)
}

const needs = ["list", "load", "history", "claim", "accept"] as const

/**
 * The store, if it is one that nodes can share. Throws a `ClusterError` (`store_not_shared`) otherwise. With a placement of its
 * own, as a test has, the nodes may share a store of their process.
 */
export const sharedStore = (store: Store.Store | undefined, { placement }: ClusterOptions): Store.SessionStore => {
  const hasLog = store !== undefined && needs.every((name) => typeof Reflect.get(store, name) === "function")
  if (hasLog && (placement !== undefined || Reflect.get(store, "isShared") === true)) return store as Store.SessionStore
  throw new ClusterError(
    "store_not_shared",
    "With `cluster` the store must be one that all nodes share and that keeps a log: store: postgres(url)"
  )
}
