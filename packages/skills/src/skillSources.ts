/**
 * Where skills come from: folders, packages, and MCP servers.
 */
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import * as path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { ContentPart } from "@troupe/chat/messages"
import { SkillError } from "./SkillError.ts"

/** The part of an MCP server that skills are read from; the servers of `@troupe/mcp` have it. */
export interface SkillServer {
  /** Names the server in errors. */
  readonly name: string
  /** Lists the resources. */
  readonly resources: () => Promise<ReadonlyArray<{ readonly uri?: string | undefined }>>
  /** Reads a resource. */
  readonly read: (uri: string) => Promise<ReadonlyArray<ContentPart>>
}

/**
 * Where skills come from.
 *
 * - a folder (path or file URL): a skill, or a folder of skills
 * - `{ package }`: the folder `skills` (`folder`) of a package of npm, as seen from `from`, by default the working folder
 * - `{ server }`: an MCP server, whose resources end with `/<name>/SKILL.md`. Its `allowed-tools` count with `trusted` only
 */
export type SkillSource =
  | string
  | URL
  | { readonly package: string; readonly folder?: string | undefined; readonly from?: string | URL | undefined }
  | { readonly server: SkillServer; readonly trusted?: boolean | undefined }

/** Reads the folder of one skill. */
export interface SkillFiles {
  /** The name of the folder. */
  readonly folder: string
  /** The address of the `SKILL.md`. */
  readonly source: string
  /** Whether the tools that the skill names run without approval. */
  readonly trusted: boolean
  /** The paths of the files beside `SKILL.md`, in order, with `/`. */
  readonly list: () => Promise<ReadonlyArray<string>>
  /** The text of a file; `undefined` when there is none (SKILL1). Rejects with {@link NotText} for another form. */
  readonly read: (file: string) => Promise<string | undefined>
}

/** The skills of a source. A source without a skill is a `SkillError` (`not_found`). */
export const skillsOf = async (source: SkillSource): Promise<ReadonlyArray<SkillFiles>> => {
  if (typeof source === "string" || source instanceof URL) {
    return inFolder(typeof source === "string" ? path.resolve(source) : fileURLToPath(source))
  }
  if ("server" in source) return onServer(source.server, source.trusted === true)
  const { from = pathToFileURL(path.join(process.cwd(), "/")), folder = "skills" } = source
  const found = packageFile(source.package, from)
  return inFolder(path.join(path.dirname(found), folder))
}

/** The `package.json` of a package. */
const packageFile = (name: string, from: string | URL): string => {
  try {
    const found = findPackageJSON(name, from)
    if (found !== undefined) return found
  } catch (cause) {
    throw new SkillError("not_found", name, "is not installed", cause)
  }
  throw new SkillError("not_found", name, "is not installed")
}

const main = "SKILL.md"

const inFolder = async (folder: string): Promise<ReadonlyArray<SkillFiles>> => {
  const found = await Promise.all([folder, ...(await foldersIn(folder))].map(onDisk))
  const skills = found.filter((skill) => skill !== undefined)
  if (skills.length === 0)
    throw new SkillError("not_found", folder, `has no ${main}, nor has a folder in it; write <name>/${main}`)
  return skills
}

const foldersIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  try {
    const entries = await readdir(folder)
    return entries.toSorted().map((name) => path.join(folder, name))
  } catch (cause) {
    throw new SkillError("not_found", folder, "is not a folder that can be read", cause)
  }
}

const onDisk = async (folder: string): Promise<SkillFiles | undefined> => {
  const source = path.join(folder, main)
  if (!(await isFile(source))) return undefined
  const root = await realpath(folder)
  return {
    folder: path.basename(folder),
    source,
    trusted: true,
    list: async () => {
      const entries = await readdir(root, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
        .filter((file) => file !== main)
        .toSorted()
    },
    read: async (file) => {
      const real = await realpath(path.resolve(root, file)).catch(() => undefined)
      if (real === undefined || !real.startsWith(root + path.sep) || !(await isFile(real))) return undefined
      return textOf(await readFile(real))
    }
  }
}

const textOfParts = (parts: ReadonlyArray<ContentPart>): string => {
  const texts = parts.map((part) => (part.type === "text" ? part.text : undefined))
  if (texts.includes(undefined)) throw new NotText("is not text")
  return texts.join("\n")
}

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false
  )

const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new NotText(`has ${bytes.length} bytes, which are not text`)
  }
}

/** The file has another form than text. */
class NotText extends Error {}

const onServer = async (server: SkillServer, trusted: boolean): Promise<ReadonlyArray<SkillFiles>> => {
  const listed = await server.resources()
  const addresses = listed.flatMap(({ uri }) => (uri === undefined ? [] : [uri]))
  const skills = addresses.flatMap((source): ReadonlyArray<SkillFiles> => {
    if (!source.endsWith(`/${main}`)) return []
    const root = source.slice(0, -main.length)
    const files = addresses.filter((uri) => uri.startsWith(root) && uri !== source).map((uri) => uri.slice(root.length))
    return [
      {
        folder: root.slice(0, -1).split("/").at(-1) ?? "",
        source,
        trusted,
        list: async () => files.toSorted(),
        read: async (file) => {
          if (file !== main && !files.includes(file)) return undefined
          return textOfParts(await server.read(root + file))
        }
      }
    ]
  })
  if (skills.length === 0) throw new SkillError("not_found", server.name, `has no resource that ends with /${main}`)
  return skills
}
