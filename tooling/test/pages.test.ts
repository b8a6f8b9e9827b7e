import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { loadedBy } from "../house/moduleFacts.ts"
import { exists, readText } from "../house/workspace.ts"

/** The file a module's import leads to; a foreign package as it is named. */
const target = (from: string, specifier: string): string => {
  if (specifier.startsWith(".")) return join(dirname(from), specifier)
  const [, short, module] = /^@troupe\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  if (short === undefined) return specifier
  const path = `packages/${short}/src/${module ?? "index"}.ts`
  return exists(path) ? path : `${path}x`
}

/** Every file, and every foreign package, that is loaded with a file. */
const loadedWith = (entry: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = [entry]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    found.add(path)
    if (exists(path)) for (const specifier of loadedBy(readText(path))) open.push(target(path, specifier))
  }
  return found
}

test("CLIENT1 a page that talks to a server loads nothing that runs chats, and no foreign package", () => {
  const loaded = [...loadedWith("packages/server/src/Client.ts")]
  expect(loaded).toContain("packages/chat/src/ChatView.ts")
  expect(loaded.filter((path) => !exists(path))).toEqual([])
  expect(loaded.filter((path) => path.startsWith("packages/chat/"))).toEqual(
    ["ChatView", "internal/shownJson", "internal/sharedJson"].map((name) => `packages/chat/src/${name}.ts`)
  )
  expect(loaded.filter((path) => path.startsWith("packages/otp/")).toSorted()).toEqual(
    ["Clock", "internal/macrotask", "internal/timerHeap"].map((name) => `packages/otp/src/${name}.ts`)
  )
})

test("CLIENT1 nor does one that shows chats with the hooks", () => {
  for (const entry of ["Conversation", "Conversations", "Observed", "Snapshot", "Provider"]) {
    const loaded = [...loadedWith(`packages/react/src/${entry}.ts`)]
    expect(loaded.filter((path) => !exists(path) && path !== "react")).toEqual([])
    expect(
      loaded.filter(
        (path) => /^packages\/(chat|otp)\//.test(path) && !/\/(ChatView|shownJson|sharedJson)\.ts$/.test(path)
      )
    ).toEqual([])
  }
})
