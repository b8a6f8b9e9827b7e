/**
 * `node main.ts <command> [options]`: the programs of the laboratory. Each command says what its options are.
 *
 * @module
 */

const commands: Readonly<Record<string, () => Promise<unknown>>> = {
  crash: () => import("./killed/command.ts"),
  storm: () => import("./nodes/command.ts"),
  soak: () => import("./chats/command.ts"),
  fuzz: () => import("./fuzz/command.ts"),
  load: () => import("./load/command.ts"),
  probes: () => import("./probes/command.ts")
}

// The command reads the arguments behind its name.
const [name = ""] = process.argv.splice(2, 1)
const command = commands[name]
if (command === undefined) {
  console.error(`Name one of ${Object.keys(commands).join(", ")}`)
  process.exitCode = 2
} else {
  await command()
  // The hooks of a library that ends PostgreSQL exit with 0.
  const { exitCode } = process
  process.once("exit", () => void (process.exitCode = exitCode))
}
