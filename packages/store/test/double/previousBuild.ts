/** The previous build of the packages, installed beside the present one. */
import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Fake, Troupe } from "@troupe/chat"
import type { Conversation, Store } from "@troupe/chat/store"
import type { postgres, sqlite } from "../../src/index.ts"
import type { Folder } from "./folder.ts"

/** A store of the previous build, which has no entries: a save has the whole record. */
export interface PreviousStore extends Omit<Store.SessionStore, "append"> {
  readonly save: (
    record: Conversation,
    precondition?: { readonly writer: string; readonly after: number }
  ) => void | Promise<void>
}

/** What a test uses of the previous build. Its stores have no waiting inputs and no fences. */
export interface PreviousBuild {
  readonly chat: { readonly Fake: typeof Fake; readonly Troupe: typeof Troupe }
  readonly store: { readonly postgres: typeof postgres; readonly sqlite: typeof sqlite }
}

const packages = ["otp", "chat", "store"] as const

/** The dependencies, which are the same as those of the present build. */
const dependencies = ["effect", "xstate", "zod", "@effect/sql-pg"]

/** Unpacks the packages of the folder `previous`, and loads them. */
export const previousBuild = async (folder: Folder): Promise<PreviousBuild> => {
  const modules = join(folder.path, "node_modules")
  for (const name of packages) {
    const target = join(modules, "@troupe", name)
    mkdirSync(target, { recursive: true })
    const tarball = new URL(`../previous/troupe-${name}-0.1.0.tgz`, import.meta.url).pathname
    execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components", "1"])
  }
  for (const name of dependencies) {
    const target = join(modules, name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(new URL(`../../node_modules/${name}`, import.meta.url).pathname, target)
  }
  const load = (name: string): Promise<unknown> =>
    import(/* @vite-ignore */ pathToFileURL(join(modules, "@troupe", name, "dist", "index.js")).href)
  return { chat: (await load("chat")) as PreviousBuild["chat"], store: (await load("store")) as PreviousBuild["store"] }
}
