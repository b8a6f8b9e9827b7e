/** Builds the page of a test. */
import { extname, join } from "node:path"
import react from "@vitejs/plugin-react"
import { build, type Rolldown } from "vite"

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8"
}

/** A file of a page. */
interface PageFile {
  readonly body: string
  readonly contentType: string
}

const outputsOf = (built: Awaited<ReturnType<typeof build>>): Rolldown.RolldownOutput["output"][number][] =>
  "close" in built ? [] : [built].flat().flatMap(({ output }) => output)

/** The files of the page in a folder beside this file, by their paths. */
export const builtPage = async (folder: string): Promise<ReadonlyMap<string, PageFile>> => {
  const built = await build({
    root: join(import.meta.dirname, folder),
    configFile: false,
    logLevel: "error",
    plugins: [react()],
    build: { write: false, target: "es2024", chunkSizeWarningLimit: 5_000 }
  })
  const files = new Map<string, PageFile>()
  for (const file of outputsOf(built)) {
    const body = file.type === "chunk" ? file.code : String(file.source)
    files.set(`/${file.fileName}`, { body, contentType: types[extname(file.fileName)] ?? "text/plain" })
  }
  return files
}
