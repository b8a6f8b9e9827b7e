/** What every part stands on: the styles, once for a page, and the colours, unless a part around it brought them. */
import { createContext, type ReactNode, useContext } from "react"
import { css } from "../css/index.ts"

const Inside = createContext(false)

/** The styles go to the page's head, once however many ask: React sees to that, on a server too. */
const Styles = (): ReactNode => (
  <style href="troupe-observer" precedence="troupe">
    {css}
  </style>
)

/** A part, with the styles and colours it needs to stand by itself. */
export const Surface = ({ className, children }: { readonly className: string; readonly children: ReactNode }) => {
  const isInside = useContext(Inside)
  if (isInside) return <div className={className}>{children}</div>
  return (
    <Inside value={true}>
      <Styles />
      <div className={`troupe-observer ${className}`}>{children}</div>
    </Inside>
  )
}
