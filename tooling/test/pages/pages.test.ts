import { gzipSync } from "node:zlib"
import { dirname, join } from "node:path"
import { build } from "vite"
import { expect, test } from "vitest"
import { factsOf } from "../../house/moduleFacts.ts"
import { publicModules } from "../../house/publicApi.ts"
import { exists, readText, root } from "../../house/workspace.ts"

/** The file a module's import leads to; a foreign package as it is named. */
const target = (from: string, specifier: string): string => {
  if (specifier.startsWith(".")) return join(dirname(from), specifier)
  const [, short, module] = /^@troupe\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  if (short === undefined) return specifier
  return publicModules(`packages/${short}`).find((found) => found.module === (module ?? "index"))?.path ?? specifier
}

/** Every file, and every foreign package, that is loaded with a file. */
const loadedWith = (entry: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = [entry]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    found.add(path)
    if (exists(path)) for (const specifier of factsOf(readText(path)).loaded) open.push(target(path, specifier))
  }
  return found
}

/** The door of views, the view, and the room of plain JSON, which imports no other package. */
const isViewOrJson = (path: string): boolean =>
  /^packages\/chat\/src\/(view\.ts|view\/(ChatView|callView)\.ts|json\/\w+\.ts)$/.test(path)

test("CLIENT1 a page that talks to a server loads nothing that runs chats, and no foreign package", () => {
  const loaded = [...loadedWith("packages/server/src/client/Client.ts")]
  expect(loaded).toContain("packages/chat/src/view/ChatView.ts")
  expect(loaded.filter((path) => !exists(path))).toEqual([])
  expect(loaded.filter((path) => path.startsWith("packages/chat/") && !isViewOrJson(path))).toEqual([])
  expect(loaded.filter((path) => path.startsWith("packages/otp/"))).toEqual([])
})

test("CLIENT1 nor does one that shows chats with the hooks", () => {
  for (const entry of ["Conversation", "Conversations", "Observed", "Snapshot", "Provider"]) {
    const loaded = [...loadedWith(`packages/react/src/hooks/${entry}.ts`)]
    expect(loaded.filter((path) => !exists(path) && path !== "react")).toEqual([])
    expect(loaded.filter((path) => /^packages\/(chat|otp)\//.test(path) && !isViewOrJson(path))).toEqual([])
  }
})

/** What a bundler makes of a page: its files' names and characters, and the modules in them. React is not looked at. */
const bundled = async (code: string) => {
  const entry = join(root, "tooling/page.js")
  const made = await build({
    configFile: false,
    logLevel: "error",
    root,
    build: { write: false, rollupOptions: { input: entry, external: [/^react/], preserveEntrySignatures: "strict" } },
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? code : undefined)
      }
    ]
  })
  if (!("output" in made)) throw new Error("no bundle")
  return made.output.flatMap((file) =>
    file.type === "chunk"
      ? [{ characters: file.code.length, bytes: gzipSync(file.code).length, modules: Object.keys(file.modules) }]
      : []
  )
}

test("CLIENT1 a bundler keeps of the packages what such a page uses, though it imports them by their names alone", async () => {
  const chunks = await bundled(`
    import { TroupeProvider, useChat, useChats } from "@troupe/react"
    import { Client } from "@troupe/server"
    export const page = { TroupeProvider, useChat, useChats, connect: Client.connect }
  `)
  const modules = chunks.flatMap((chunk) => chunk.modules)
  expect(modules.filter((path) => /node_modules|ChatMachine|Troupe\.ts|Server\.ts|Observer\.tsx/.test(path))).toEqual(
    []
  )
  expect(chunks.reduce((sum, { characters }) => sum + characters, 0)).toBeLessThan(30_000)
})

test("CLIENT1 the hooks, the client and the text of a message are at most 9 kB of a page, compressed, beside React", async () => {
  const chunks = await bundled(`
    import { Message } from "@troupe/chat/messages"
    import { TroupeProvider, useChat, useChats } from "@troupe/react"
    import { Client } from "@troupe/server"
    export const page = { TroupeProvider, useChat, useChats, connect: Client.connect, text: Message.text }
  `)
  expect(chunks.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(9_000)
})
