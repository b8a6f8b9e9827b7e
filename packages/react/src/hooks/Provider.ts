/**
 * The system that the hooks use.
 *
 * @module
 */
import type { ChatLink } from "@troupe/server"
import { createContext, createElement, type FunctionComponent, type ReactNode, useContext } from "react"

const LinkContext = createContext<ChatLink.TroupeLink | undefined>(undefined)

/** Provides a system to the hooks below: `local(troupe)`, or `connect({ url })` of the server's client. */
export const TroupeProvider: FunctionComponent<{
  readonly link: ChatLink.TroupeLink
  readonly children?: ReactNode
}> = ({ link, children }) => createElement(LinkContext.Provider, { value: link }, children)

/**
 * The link of the nearest provider, or the given one.
 *
 * **Errors**: throws when there is neither, and for a Troupe, which is no link.
 */
export const useTroupe = (link?: ChatLink.TroupeLink): ChatLink.TroupeLink => {
  const above = useContext(LinkContext)
  const found = link ?? above
  if (found === undefined) {
    throw new Error("No link: put a TroupeProvider above the component, or give the hook { link }")
  }
  if ("delete" in found) throw new TypeError("A Troupe is no link: write link={local(troupe)}")
  return found
}
