/** The sources of a reply. */
import type { ReactNode } from "react"
import { classOf, Link, type PartProps } from "../parts/index.ts"

/** A source: a page or a document. */
export interface Source {
  /** Names the source within its reply. */
  readonly id: string
  /** Its title for people. Default: the host of the page, or the name of the file. */
  readonly title?: string | undefined
  /** Where the page is, or what kind of document it is. */
  readonly source: { readonly url: string } | { readonly mediaType: string; readonly filename?: string | undefined }
}

/** The props of {@link Sources}. */
export interface SourcesProps extends PartProps {
  /** The sources, as the parts of a message have them. */
  readonly sources: ReadonlyArray<Source>
  /** Renders one source. */
  readonly children?: ((source: Source) => ReactNode) | undefined
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

const shown = ({ title, source }: Source): ReactNode => {
  if (!("url" in source)) return title ?? source.filename ?? source.mediaType
  const text = title ?? hostOf(source.url)
  return (
    <Link href={source.url} title={source.url}>
      {text}
    </Link>
  )
}

/** The sources of a reply, numbered in their order. */
export const Sources = ({ sources, className, children = shown }: SourcesProps): ReactNode =>
  sources.length === 0 ? null : (
    <ol className={classOf("sources", { className })} aria-label="Sources">
      {sources.map((source) => (
        <li key={source.id}>{children(source)}</li>
      ))}
    </ol>
  )
