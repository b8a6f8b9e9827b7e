import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Choices, lists, parts, type Template } from "../src/choices.ts"
import { CreateError } from "../src/CreateError.ts"
import { projectFiles, writeProject } from "../src/project.ts"
import { defaults, temporaryFolder } from "./double/scaffold.ts"

const filesOf = (choices: Partial<Choices>) => projectFiles("shop", { ...defaults, ...choices })

interface Manifest {
  readonly name: string
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifestOf = (choices: Partial<Choices>) => JSON.parse(filesOf(choices).get("package.json") ?? "") as Manifest

const refusal = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    if (error instanceof CreateError) return error.reason
  }
  return undefined
}

describe.each(lists.template)("the template %s", (template) => {
  const text = (path: string): string => filesOf({ template }).get(path) ?? ""

  test("has a README, a .gitignore, a configuration of compiler and linter, and a test", () => {
    const paths = [...filesOf({ template }).keys()]
    expect(paths).toEqual(
      expect.arrayContaining(["README.md", ".gitignore", "package.json", "tsconfig.json", ".oxlintrc.json"])
    )
    expect(paths.some((path) => /^test\/\w+\.test\.tsx?$/.test(path))).toBe(true)
    expect(paths.filter((path) => /gitignore|package\.json/.test(path)).toSorted()).toEqual([
      ".gitignore",
      "package.json"
    ])
  })

  test("has the scripts dev, start, test, typecheck and lint, and a version of each dependency", () => {
    const { scripts, dependencies, devDependencies } = manifestOf({ template })
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["dev", "start", "test", "typecheck", "lint"]))
    const versions = Object.entries({ ...dependencies, ...devDependencies })
    expect(versions.filter(([, range]) => range === "" || range === "^" || range === "=")).toEqual([])
  })

  test("depends on the packages that its files import, and on their peers only", () => {
    const { dependencies, devDependencies } = manifestOf({ template })
    const sources = [...filesOf({ template })].filter(([path]) => /\.(tsx?|css)$/.test(path))
    const imported = sources.flatMap(([, source]) =>
      [...source.matchAll(/(?:from|^import) "((?:@[\w-]+\/)?[\w-]+)/gm)].flatMap(([, name = ""]) =>
        name.startsWith("node") ? [] : [name]
      )
    )
    const all = Object.keys({ ...dependencies, ...devDependencies })
    expect([...new Set(imported)].filter((name) => !all.includes(name))).toEqual([])
    const beside = [
      "effect",
      "xstate",
      "zod",
      "react",
      "marked",
      "@troupe/otp",
      "@types/",
      "oxlint",
      "typescript",
      "jsdom",
      "vite"
    ]
    const unused = all.filter((name) => !imported.includes(name) && !beside.some((one) => name.startsWith(one)))
    expect(unused).toEqual([])
  })

  test("names in its README only files that it has", () => {
    const named = [...text("README.md").matchAll(/^\| `([\w./[\]]+\.\w+)`/gm)].map(([, path = ""]) => path)
    expect(named.length).toBeGreaterThan(2)
    const paths = [...filesOf({ template }).keys()]
    expect(named.filter((path) => !paths.includes(path))).toEqual([])
  })
})

const offering = (name: "provider" | "store"): ReadonlyArray<Template> =>
  lists.template.filter((template) => parts[template].options.includes(name))

test("a provider is the model file of each template that offers one, with its package and the name of its key", () => {
  for (const template of offering("provider")) {
    for (const provider of lists.provider.slice(1)) {
      const files = filesOf({ template, provider })
      expect(files.get("src/model.ts")).toContain(`from "@ai-sdk/${provider}"`)
      expect(files.get("src/model.ts")).toContain((files.get(".env.example") ?? "none").split("=", 1).join(""))
      expect(manifestOf({ template, provider }).dependencies).toHaveProperty(`@ai-sdk/${provider}`)
    }
  }
})

test("a store is the store file of each template that offers one", () => {
  for (const template of offering("store")) {
    for (const store of ["sqlite", "postgres"] as const) {
      expect(filesOf({ template, store }).get("src/store.ts")).toContain(`import { ${store} } from "@troupe/store"`)
      expect(manifestOf({ template, store }).dependencies).toHaveProperty("@troupe/store")
    }
  }
})

test("the README has the commands of the package manager", () => {
  const text = filesOf({ manager: "pnpm" }).get("README.md")
  expect(text).toContain("pnpm run dev")
  expect(text).not.toMatch(/\bnpm run/)
})

test("a project in a folder with the name of one of its dependencies has another name", () => {
  using folder = temporaryFolder()
  const project = writeProject(join(folder.path, "Next"), { ...defaults, template: "next" })
  const { name } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as Manifest
  expect(name).toBe("next-app")
})

test("CREATE1. a folder with a file is refused, and stays as it is", () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "notes.txt"), "mine")
  expect(refusal(() => writeProject(folder.path, defaults))).toBe("folder_not_empty")
  expect(refusal(() => writeProject(join(folder.path, "notes.txt"), defaults))).toBe("folder_not_empty")
  expect(readdirSync(folder.path)).toEqual(["notes.txt"])
  expect(readFileSync(join(folder.path, "notes.txt"), "utf8")).toBe("mine")
})

test("CREATE1. an empty folder and a repository without files are taken", () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, ".git"))
  writeProject(folder.path, defaults)
  expect(readdirSync(folder.path)).toContain("package.json")
})

test("a name without a letter, and a folder below a file, are refused before anything is written", () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "file"), "")
  expect(refusal(() => writeProject(join(folder.path, "...—"), defaults))).toBe("invalid_folder")
  expect(refusal(() => writeProject(join(folder.path, "file/app"), defaults))).toBe("folder_not_empty")
  expect(readdirSync(folder.path)).toEqual(["file"])
})
