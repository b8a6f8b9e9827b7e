/**
 * Finds the examples that run as tests: fences whose info string is `ts import.meta.vitest`, or `tsx` where it shows a page,
 * in Markdown and in doc comments.
 *
 * @module
 */

/** One example, as written. */
export interface Example {
  /** The heading above it, or the name of the export it documents. */
  readonly title: string
  /** The line of its first line of code in the file, from 1. */
  readonly line: number
  readonly code: string
  /** Whether it renders a page: it contains JSX, and gets a document. */
  readonly isPage?: true
}

/** The info strings that make a fence run. */
const marker = "ts import.meta.vitest"
const pageMarker = "tsx import.meta.vitest"

/** The runnable examples of a file, by its extension. */
export const examplesOf = (path: string, text: string): ReadonlyArray<Example> =>
  path.endsWith(".md") ? markdownExamples(text) : docCommentExamples(text)

/** The runnable fences of a Markdown text, each under its nearest heading. */
export const markdownExamples = (text: string): ReadonlyArray<Example> => fences(text.split("\n"), 1, "example")

/** The runnable fences of a module's doc comments, each under the name its comment documents. */
export const docCommentExamples = (text: string): ReadonlyArray<Example> =>
  [...text.matchAll(/\/\*\*[\s\S]*?\*\//g)].flatMap((comment) => {
    const lines = comment[0].split("\n").map((line) => line.replace(/^\s*\*(?!\/) ?/, ""))
    const firstLine = text.slice(0, comment.index).split("\n").length
    const below = text.slice(comment.index + comment[0].length)
    return fences(lines, firstLine, declared.exec(below)?.[1] ?? "module")
  })

const declared = /^\s*(?:export\s+)?(?:(?:declare|abstract|async|readonly)\s+)*(?:\w+\*?\s+)?(\w+)/

const fences = (lines: ReadonlyArray<string>, firstLine: number, fallback: string): ReadonlyArray<Example> => {
  const found: Array<Example> = []
  let title = fallback
  let open:
    | { readonly ticks: string; readonly line: number; readonly info: string; readonly indent: number }
    | undefined
  let code: Array<string> = []
  for (const [index, line] of lines.entries()) {
    const fence = /^(\s*)(`{3,})\s*(.*?)\s*$/.exec(line)
    if (open !== undefined) {
      if (fence !== null && fence[2] === open.ticks && fence[3] === "") {
        const example = { title, line: open.line, code: code.join("\n") }
        if (open.info === marker) found.push(example)
        if (open.info === pageMarker) found.push({ ...example, isPage: true })
        open = undefined
      } else {
        code.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)))
      }
    } else if (fence !== null) {
      const [, indent = "", ticks = "", info = ""] = fence
      open = { ticks, line: firstLine + index + 1, info, indent: indent.length }
      code = []
    } else {
      title = /^#{1,6}\s+(.+)$/.exec(line)?.[1] ?? title
    }
  }
  if (open !== undefined && (open.info === marker || open.info === pageMarker))
    throw new Error(`the example that starts at line ${open.line} has no closing fence`)
  return found
}
