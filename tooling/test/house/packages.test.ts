import { execFile } from "node:child_process"
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { exactPeers, oursOf } from "../../house/importTable.ts"
import { exists, root, workspacePackages } from "../../house/workspace.ts"
import { repository, site } from "../../release/addresses.ts"

const run = promisify(execFile)

/** How long the start of another program may take on a busy machine. */
const startsMs = 120_000

/** The environment of a script of the workspace. */
const withTools = { ...process.env, PATH: [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter) }

const libraries = workspacePackages().filter((found) => found.kind === "library")

/** What a program and a library must share one copy of: their types and instances meet. */
const met = ["effect", "react", "xstate", "zod"]

const peersOf = (short: string): ReadonlyArray<string> =>
  Object.keys(libraries.find((found) => found.short === short)?.manifest.peerDependencies ?? {})

describe("a library", () => {
  test.each(libraries)(
    "PEER1. $folder asks for what programs share with it as peers, by range",
    ({ manifest, short }) => {
      const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest
      expect(met.filter((name) => name in dependencies)).toEqual([])
      const exact = exactPeers[short] ?? []
      const unranged = Object.keys(peerDependencies).filter((name) => peerDependencies[name] !== "catalog:ranges")
      expect(unranged).toEqual(exact)
      expect(exact.filter((name) => !/^\d+\.\d+\.\d+$/u.test(peerDependencies[name] ?? ""))).toEqual([])
      expect(Object.keys(peerDependencies).filter((name) => devDependencies[name] !== "catalog:")).toEqual([])
    }
  )

  test.each(libraries)("PEER1. $folder asks for the peers of the libraries it depends on", ({ manifest, short }) => {
    const ours = Object.keys(manifest.dependencies ?? {}).flatMap((name) => oursOf(name) ?? [])
    const inherited = ours.flatMap(peersOf)
    expect(inherited.filter((name) => !peersOf(short).includes(name))).toEqual([])
  })

  test.each(libraries)("$folder says where it comes from, and is published for all with its provenance", (found) => {
    const { license, keywords = [], homepage, bugs, repository: source, publishConfig } = found.manifest
    expect({ license, homepage, bugs, source }).toEqual({
      license: "MIT",
      homepage: site,
      bugs: { url: `${repository}/issues` },
      source: { type: "git", url: `git+${repository}.git`, directory: found.folder }
    })
    expect(keywords).toContain("troupe")
    expect(keywords.length).toBeGreaterThan(3)
    expect(publishConfig).toMatchObject({ access: "public", provenance: true })
  })

  test.each(libraries)("PACK1. $folder is built whenever it is packed, and holds no state of the compiler", (found) => {
    expect(found.manifest.scripts?.["prepack"]).toBe("node ../../tooling/packed/prepack.ts")
    expect(found.manifest.files).toEqual(expect.arrayContaining(["dist", "!**/*.tsbuildinfo"]))
    expect(found.manifest.files).not.toContain("src")
    expect(exists(`${found.folder}/README.md`)).toBe(true)
  })
})

test(
  "TSX1. a program with JSX runs from the sources, and renders the hooks and the observer on the server",
  async () => {
    const tsx = join(root, "node_modules/.bin/tsx")
    const page = join(root, "tooling/packed/consumer/page.tsx")
    const { stderr } = await run(tsx, ["--tsconfig", "tsconfig.base.json", page], { cwd: root })
    expect(stderr).toBe("")
  },
  startsMs
)

test(
  "PACK1. a pack fails when the README or an exported file is missing",
  async () => {
    using temporary = mkdtempDisposableSync(join(tmpdir(), "troupe-prepack-"))
    const { path: cwd } = temporary
    const write = (file: string, content: unknown): void => writeFileSync(join(cwd, file), JSON.stringify(content))
    write("package.json", {
      name: "half",
      publishConfig: { exports: { ".": "./dist/index.js", "./*": "./dist/*.js" } }
    })
    write("tsconfig.json", { compilerOptions: { outDir: "dist" }, files: ["one.ts"] })
    writeFileSync(join(cwd, "one.ts"), "export const one = 1")
    mkdirSync(join(cwd, "dist"))
    write("dist/index.js", "")
    const prepack = run(process.execPath, [join(root, "tooling/packed/prepack.ts")], { cwd, env: withTools })
    await expect(prepack).rejects.toThrow("half cannot be packed: there is no README.md, no ./dist/index.js")
  },
  startsMs
)
