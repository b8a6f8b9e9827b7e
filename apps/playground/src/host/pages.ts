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

/**
 * Reads a folder of files, and answers requests for them; `undefined` for any other path.
 *
 * **Details**: `control` is the address of another server that the page may use; its name in the page is `troupe-control`.
 */
export const pagesOf = async (
  folder: string,
  control?: string
): Promise<(request: Request) => Response | undefined> => {
  const pages = new Map<string, Page>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join("/")}`
    const type = types[extname(file)] ?? "application/octet-stream"
    const bytes = new Uint8Array(await readFile(file))
    pages.set(path, { bytes: control !== undefined && extname(file) === ".html" ? named(bytes, control) : bytes, type })
  }
  const connects = control === undefined ? "" : ` connect-src 'self' ${control};`
  return (request) => {
    const { pathname } = new URL(request.url)
    const page = pages.get(pathname === "/" ? "/index.html" : pathname)
    if (page === undefined || request.method !== "GET") return undefined
    return new Response(page.bytes, {
      headers: {
        "content-type": page.type,
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        "content-security-policy": `default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:;${connects} frame-ancestors 'none'`
      }
    })
  }
}

/** A page with the address of the other server in its head. */
const named = (bytes: Uint8Array, control: string): Uint8Array<ArrayBuffer> => {
  const page = new TextDecoder().decode(bytes)
  return new TextEncoder().encode(page.replace("</head>", `<meta name="troupe-control" content="${control}" /></head>`))
}
