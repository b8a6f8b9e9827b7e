/**
 * `dev`: the playground with a page that is built on request, and reloads when its files change.
 *
 * @module
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { sqlite } from "@troupe/store"
import { createServer } from "vite"
import { adapterOf, modelsFor } from "./host/models.ts"
import { startPlayground } from "./host/playground.ts"

const { values } = parseArgs({ options: { port: { type: "string", default: "5173" } } })
const folder = join(import.meta.dirname, "..")
const data = join(folder, "node_modules", ".troupe")
await mkdir(data, { recursive: true })

const models = modelsFor(process.env)
const store = sqlite(join(data, "playground.db"))
const port = Number(values.port)
const origins = ["localhost", "127.0.0.1"].map((host) => `http://${host}:${port}`)
const playground = await startPlayground({ adapter: adapterOf(models), models, store, origins })
const page = await createServer({
  root: folder,
  configFile: join(folder, "vite.config.ts"),
  clearScreen: false,
  server: {
    port,
    strictPort: true,
    host: "127.0.0.1",
    proxy: { "/troupe": { target: playground.url }, "/models.json": { target: playground.url } }
  }
})
await page.listen()
process.stdout.write(
  `\n  Troupe's playground: http://127.0.0.1:${port}\n  ${models[0]?.label} answers; Ctrl-C ends it\n  npx pnpm@12 observe http://127.0.0.1:${port}/troupe: its processes in a terminal\n`
)

const end = async (): Promise<void> => {
  await page.close()
  await playground.close()
  await store.close()
}
let ending: Promise<void> | undefined
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    ending ??= end().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`)
        process.exit(1)
      }
    )
  })
}
