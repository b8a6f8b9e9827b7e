/** The built site as files: its links, its names, its texts for models. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { publicNames } from "../../tooling/house/publicApi.ts"
import { workspacePackages } from "../../tooling/house/workspace.ts"
import { site } from "../../tooling/release/addresses.ts"
import { linked } from "../.vitepress/sidebar.ts"

const built = join(import.meta.dirname, "../dist/site")

/** The pages by their addresses, such as `/paths/chat`. */
const pages = new Map(
  globSync("**/*.html", { cwd: built }).map((path) => [
    `/${path.replace(/(?:^|(?<=\/))index\.html$|\.html$/, "")}`,
    readFileSync(join(built, path), "utf8")
  ])
)

const attributes = (html: string, name: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value = ""]) =>
    value.replaceAll("&amp;", "&").replaceAll("&#39;", "'")
  )

test("each link of the site leads to a page, and to a heading of this page", () => {
  const ids = new Map([...pages].map(([address, html]) => [address, new Set(attributes(html, "id"))]))
  const dead = [...pages].flatMap(([address, html]) =>
    attributes(html, "href").flatMap((href) => {
      const url = new URL(href, `${site}${address}`)
      if (url.origin !== site || href.startsWith("#") || /\.\w+$/.test(url.pathname)) {
        const isFile = url.origin === site && /\.\w+$/.test(url.pathname)
        return isFile && !existsSync(join(built, url.pathname)) ? [`${address}: ${href}`] : []
      }
      const found = ids.get(decodeURIComponent(url.pathname))
      const anchor = decodeURIComponent(url.hash.slice(1))
      return found === undefined || (anchor !== "" && !found.has(anchor)) ? [`${address}: ${href}`] : []
    })
  )
  expect([...new Set(dead)]).toEqual([])
})

test("the reference has each public name of each library", () => {
  const reference = [...pages].filter(([address]) => address.startsWith("/reference/"))
  const headings = new Set(
    reference.flatMap(([, html]) =>
      [...html.matchAll(/<h[1-6][^>]*>(.*?)<(?:a|\/h)/g)].map(([, text = ""]) =>
        text
          .replaceAll(/<[^>]*>/g, "")
          .replaceAll(/^abstract |\(\)|\?|\\/g, "")
          .trim()
      )
    )
  )
  const missing = workspacePackages()
    .filter(({ kind }) => kind === "library")
    .flatMap(({ folder }) => publicNames(folder).map(({ name }) => name.split(".").at(-1) ?? ""))
    .filter((name) => !headings.has(name))
  expect([...new Set(missing)]).toEqual([])
})

test("`llms.txt` lists each page, and each page is there as Markdown", () => {
  const list = readFileSync(join(built, "llms.txt"), "utf8")
  const written = [...pages.keys()].filter((address) => !address.endsWith("/") && address !== "/404")
  expect(written.filter((address) => !existsSync(join(built, `${address}.md`)))).toEqual([])
  const listed = written.filter((address) => !address.startsWith("/reference/"))
  expect(listed.filter((address) => !list.includes(`${address}.md`))).toEqual([])
})

test("the sidebar has each page, so that a reader can get to it", () => {
  const written = [...pages.keys()].filter((address) => !address.startsWith("/reference/"))
  expect(written.filter((address) => !["/", "/404", ...linked].includes(address))).toEqual([])
})
