/**
 * Writes the reference, `docs/reference`, from the doc comments of the packages: one page for each module and namespace.
 *
 * **Details**: the numbered invariants of a file are for its authors, and are left out.
 *
 * @module
 */
import Slugger from "github-slugger"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Application, type CommentDisplayPart, Converter, type ProjectReflection } from "typedoc"
import { load } from "typedoc-plugin-markdown"
import { publicModules } from "../../tooling/house/publicApi.ts"
import { root, workspacePackages } from "../../tooling/house/workspace.ts"
import { repository } from "../../tooling/release/addresses.ts"

const out = join(root, "docs/reference")

/** The public modules by the names of their imports, the first package first. */
const modules = workspacePackages()
  .filter(({ kind }) => kind === "library")
  .flatMap(({ folder, manifest }) =>
    publicModules(folder).map(({ module, path }) => ({
      name: module === "index" ? manifest.name : `${manifest.name}/${module}`,
      path
    }))
  )

const invariant = /(?:^|\n)(?:- )?`?[A-Z]+\d+\.`?(?: |$)|\*\*Invariants\*\*/

/** A comment up to the numbered invariants of its file. */
const withoutInvariants = (parts: ReadonlyArray<CommentDisplayPart>): Array<CommentDisplayPart> => {
  const end = parts.findIndex(({ text }) => invariant.test(text))
  const [last] = end < 0 ? [] : parts.slice(end)
  if (last === undefined) return [...parts]
  return [...parts.slice(0, end), { kind: "text", text: last.text.slice(0, last.text.search(invariant)).trimEnd() }]
}

const prepared = (project: ProjectReflection): void => {
  for (const child of project.children ?? []) {
    const path = child.sources?.[0]?.fileName
    const found = modules.find((module) => path !== undefined && module.path.endsWith(path))
    if (found !== undefined) child.name = found.name
  }
  for (const reflection of Object.values(project.reflections))
    if (reflection.comment !== undefined) reflection.comment.summary = withoutInvariants(reflection.comment.summary)
}

/** Options of the plugin, which the types of TypeDoc do not list. */
const pages = {
  outputFileStrategy: "modules",
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: false,
  useCodeBlocks: true,
  expandObjects: true,
  parametersFormat: "table",
  typeDeclarationFormat: "list",
  sanitizeComments: true
}

const app = await Application.bootstrapWithPlugins({
  plugin: [load],
  entryPoints: modules.map(({ path }) => join(root, path)),
  tsconfig: join(root, "docs/typedoc.tsconfig.json"),
  name: "Reference",
  readme: "none",
  out,
  cleanOutputDir: true,
  skipErrorChecking: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeInternal: true,
  gitRevision: "main",
  disableGit: true,
  basePath: root,
  sourceLinkTemplate: `${repository}/blob/main/packages/{path}#L{line}`,
  logLevel: "Error",
  ...pages
})
app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }: { readonly project: ProjectReflection }) =>
  prepared(project)
)
const project = await app.convert()
if (project === undefined) throw new Error("the reference was not made: see the errors above")
await app.generateOutputs(project)

const written = globSync("**/*.md", { cwd: out }).map((path) => join(out, path))

/** The anchors of a page's headings. */
const anchorsOf = (path: string): ReadonlySet<string> => {
  const slugger = new Slugger()
  const headings = [...readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm)]
  return new Set(headings.map(([, text = ""]) => slugger.slug(text.replaceAll(/[`\\]/g, ""))))
}
const anchors = new Map(written.map((path) => [path, anchorsOf(path)]))

// The plugin numbers some anchors that their pages have once.
for (const path of written) {
  const text = readFileSync(path, "utf8")
  const mended = text.replaceAll(/\]\(([^)#]*)#([^)]+)-\d+\)/g, (link, file: string, anchor: string) => {
    const found = anchors.get(file === "" ? path : join(dirname(path), file))
    const isThere = found?.has(link.slice(link.indexOf("#") + 1, -1)) ?? true
    return isThere || found?.has(anchor) !== true ? link : `](${file}#${anchor})`
  })
  if (mended !== text) writeFileSync(path, mended)
}

interface Item {
  text: string
  link?: string
  items?: Array<Item>
}

/** The address of a page from its path. */
const linkOf = (path: string): string => `/reference/${path.replace(/(?:index)?\.md$/, "")}`

/** The sidebar: a group for each package, with its modules and their namespaces. */
const groups = Map.groupBy(
  globSync("**/*.md", { cwd: out })
    .filter((path) => path !== "index.md")
    .toSorted(),
  (path) => path.split("/").slice(0, 2).join("/").replace(/\.md$/, "")
)
const sidebar: Array<Item> = [...groups].map(([text, paths]) => ({
  text,
  items: paths.map((path) => ({
    text:
      path
        .slice(text.length)
        .replace(/(?:\/?index)?\.md$/, "")
        .replaceAll("/namespaces/", "/")
        .replace(/^\//, "") || text,
    link: linkOf(path)
  }))
}))
writeFileSync(join(out, "sidebar.json"), JSON.stringify(sidebar))
