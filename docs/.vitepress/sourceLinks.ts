/**
 * Links from a page to a file of the repository that is no page, such as `../AGENTS.md`. They lead to the file in the
 * repository. A link to a file that does not exist stays as it is, and fails the build as a dead link.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import type { MarkdownRenderer } from "vitepress"
import { repository } from "../../tooling/release/addresses.ts"

const root = join(import.meta.dirname, "../..")
const docs = join(root, "docs")

/** The address of a link's target in the repository, or nothing for a page, an address or a dead link. */
const sourceAddress = (page: string, href: string): string | undefined => {
  const [path = "", hash] = href.split("#")
  if (path === "" || path.startsWith("/") || URL.canParse(path)) return undefined
  const file = join(dirname(join(docs, page)), decodeURIComponent(path))
  const isPage = !relative(docs, file).startsWith("..") && file.endsWith(".md")
  if (isPage || !existsSync(file)) return undefined
  const address = `${repository}/blob/main/${relative(root, file)}`
  return hash === undefined ? address : `${address}#${hash}`
}

/** Adds the rule to the renderer of pages. */
export const withSourceLinks = (md: MarkdownRenderer): void => {
  md.core.ruler.push("troupe-source-links", (state) => {
    const { relativePath } = state.env as { readonly relativePath?: string }
    if (relativePath === undefined) return
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== "link_open") continue
      const address = sourceAddress(relativePath, token.attrGet("href") ?? "")
      if (address !== undefined) token.attrSet("href", address)
    }
  })
}
