/**
 * The built page, held in memory: a request looks a path up, and opens no file.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml"
}

interface Page {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
}

/** Reads a folder of files, and answers requests for them; `undefined` for any other path. */
export const pagesOf = async (folder: string): Promise<(request: Request) => Response | undefined> => {
  const pages = new Map<string, Page>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join("/")}`
    pages.set(path, {
      bytes: new Uint8Array(await readFile(file)),
      type: types[extname(file)] ?? "application/octet-stream"
    })
  }
  return (request) => {
    const { pathname } = new URL(request.url)
    const page = pages.get(pathname === "/" ? "/index.html" : pathname)
    if (page === undefined || request.method !== "GET") return undefined
    return new Response(page.bytes, {
      headers: {
        "content-type": page.type,
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        "content-security-policy":
          "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'"
      }
    })
  }
}
