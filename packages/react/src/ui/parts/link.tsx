/** A link whose address another party wrote. */
import type { ReactNode } from "react"

interface LinkProps {
  readonly href: string
  readonly title?: string | undefined
  readonly children: ReactNode
}

const safe = /^(?:https?:|mailto:)/i

/** Opens another tab. An address that is no page and no mail leads nowhere: its text is shown alone. */
export const Link = ({ href, title, children }: LinkProps): ReactNode =>
  safe.test(href) ? (
    <a href={href} target="_blank" rel="noreferrer" title={title}>
      {children}
    </a>
  ) : (
    <span>{children}</span>
  )
