/**
 * A registry on a free port of loopback, as a program that `registry.ts` starts. It takes its configuration as a message, answers
 * with its port, and ends when its parent does.
 *
 * @module
 */
import { runServer } from "verdaccio"

process.on("disconnect", () => process.exit(0))
process.once("message", (configuration: object) => {
  const listen = async () => {
    const server = await runServer({ ...configuration })
    server.listen(0, "127.0.0.1", () => process.send?.(server.address()))
  }
  void listen()
})
