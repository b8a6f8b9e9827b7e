/**
 * Markdown as React elements.
 *
 * MD1. A text of a model makes no HTML: tags are shown as text. A link opens another tab, and only `http:`, `https:` and `mailto:`
 *      links lead anywhere. A picture is a link, so that nothing is loaded before a person clicks.
 */
import { lexer, type MarkedToken, type Token } from "marked"
import { createElement, Fragment, memo, type ReactNode, useMemo } from "react"
import { classOf, CopyButton, Link, type PartProps } from "../parts/index.ts"

/** The props of {@link Markdown}. */
export interface MarkdownProps extends PartProps {
  /** The text. It may end in the middle of a word: text that streams. */
  readonly text: string
  /** Renders a block of code, for example in colours. Default: {@link Code}. */
  readonly code?: ((code: CodeProps) => ReactNode) | undefined
}

/** The props of {@link Code}. */
export interface CodeProps {
  /** What is in the block, as it is. */
  readonly text: string
  /** The name of its language, as the text has it. */
  readonly language: string | undefined
}

/** A block of code, with its language and a button that copies it. */
export const Code = ({ text, language }: CodeProps): ReactNode => (
  <figure className={classOf("code")} data-language={language}>
    <figcaption>
      <span>{language ?? "text"}</span>
      <CopyButton text={text} label="Copy the code" />
    </figcaption>
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </figure>
)

type RenderCode = NonNullable<MarkdownProps["code"]>

const codeBlock: RenderCode = (code) => <Code {...code} />

/** Shows a text in GitHub's Markdown, with tables and lists of tasks. HTML in the text is shown as it is written. A text is parsed once. */
export const Markdown = memo(({ text, code = codeBlock, className }: MarkdownProps): ReactNode => {
  const tokens = useMemo(() => lexer(text), [text])
  return <div className={classOf("markdown", { className })}>{all(tokens, code)}</div>
})

const all = (tokens: ReadonlyArray<Token> | undefined, code: RenderCode): ReactNode =>
  tokens?.map((token, index) => <Fragment key={index}>{element(token as MarkedToken, code)}</Fragment>)

/** A text of Markdown has its characters as they are, and a few as entities. */
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" }

const plain = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => entities[name] ?? whole)

const element = (token: MarkedToken, code: RenderCode): ReactNode => {
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      return createElement(`h${Math.min(6, token.depth + 2)}`, undefined, all(token.tokens, code))
    case "paragraph":
      return <p>{all(token.tokens, code)}</p>
    case "text":
      return token.tokens === undefined ? plain(token.text) : all(token.tokens, code)
    case "strong":
      return <strong>{all(token.tokens, code)}</strong>
    case "em":
      return <em>{all(token.tokens, code)}</em>
    case "del":
      return <del>{all(token.tokens, code)}</del>
    case "codespan":
      return <code>{token.text}</code>
    case "code":
      return code({ text: token.text, language: token.lang === "" ? undefined : token.lang })
    case "br":
      return <br />
    case "hr":
      return <hr />
    case "blockquote":
      return <blockquote>{all(token.tokens, code)}</blockquote>
    case "link":
      return <Link href={token.href}>{all(token.tokens, code)}</Link>
    case "image":
      return <Link href={token.href}>{token.text === "" ? "picture" : token.text}</Link>
    case "list":
      return token.ordered ? (
        <ol start={token.start === "" ? undefined : token.start}>{all(token.items, code)}</ol>
      ) : (
        <ul>{all(token.items, code)}</ul>
      )
    case "list_item":
      return <li data-task={token.task || undefined}>{all(token.tokens, code)}</li>
    case "checkbox":
      return <input type="checkbox" checked={token.checked} readOnly disabled aria-label="Done" />
    case "table":
      return <Table token={token} code={code} />
    case "escape":
    case "html":
      return token.text
    default:
      return (token as Token).raw
  }
}

type TableToken = Extract<MarkedToken, { readonly type: "table" }>

const Table = ({ token, code }: { readonly token: TableToken; readonly code: RenderCode }): ReactNode => {
  const cells = (row: TableToken["header"], name: "th" | "td"): ReactNode =>
    row.map(({ tokens, align }, index) =>
      createElement(name, { key: index, style: align === null ? undefined : { textAlign: align } }, all(tokens, code))
    )
  return (
    <div className={classOf("table")} tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{cells(token.header, "th")}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
