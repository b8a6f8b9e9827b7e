/** The base of every part: the styles, once a page, and the colours, unless an enclosing part provides them. */
import { createContext, type ReactNode, useContext } from "react"
import { css } from "../css/index.ts"

const Inside = createContext(false)

/** React adds the styles to the page's head once, however many parts render them, on a server too. */
const Styles = (): ReactNode => (
  <style href="troupe-observer" precedence="troupe">
    {css}
  </style>
)

/** A part, with the styles and colours that it needs. */
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
