/** The command line: its options, and the refusal of any other. */
import { parseArgs } from "node:util"
import { CommandError } from "./CommandError.ts"

const help = `troupe mcp <module> [options]

Serves the agents and tools that a module exports to MCP clients, over the standard streams.
The module exports \`mcp\`, the options of Mcp.serve, and \`troupe\`, a running Troupe, if \`mcp\` has agents.

  --http      serves streamable HTTP at this port instead
  --host      the address to listen at; 127.0.0.1, if absent
  --owner     the owner of the conversations; "stdio" over the standard streams, if absent
  --approve   the client may decide about calls that wait for a person
  --help      prints this text
`

const parsed = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        http: { type: "string" },
        host: { type: "string", default: "127.0.0.1" },
        owner: { type: "string" },
        approve: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false }
      }
    })
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.split(".", 1).join("") : String(cause)
    throw new CommandError(`${message}. --help lists the options.`, { cause })
  }
}

/** Runs the command, until its client has gone or a signal ends it. **Errors**: rejects with a `CommandError`. */
export const runCommand = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values, positionals } = parsed(args)
  const { host, owner, approve } = values
  if (values.help) return void process.stdout.write(help)
  const [command, path, ...others] = positionals
  if (command !== "mcp" || path === undefined || others.length > 0)
    throw new CommandError("Write troupe mcp and the path of one module. --help lists the options.")
  const port = values.http === undefined ? undefined : Number(values.http)
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new CommandError(`--http needs a port, and ${values.http} is none.`)
  const { serveModule } = await import("./serveModule.ts")
  await serveModule(path, { port, host, owner, may: { approve } })
}
