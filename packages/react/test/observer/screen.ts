/** Looks for what is on the page, as people and screen readers do. */
import { fireEvent, render, type RenderResult, screen } from "@testing-library/react"
import { act, type ReactNode } from "react"

/** Shows something, and waits until what it asked for has come. */
export const show = async (content: ReactNode): Promise<RenderResult> => {
  const shown = render(content)
  await act(async () => {})
  return shown
}

/** The rows of the tree, as a screen reader gets them: name, and what is open. */
export const rowNames = (): ReadonlyArray<string> =>
  screen.getAllByRole("treeitem").map((row) => row.querySelector(".tro-label")?.textContent ?? "")

/** A row of the tree. */
export const row = (name: string): HTMLElement => {
  const found = screen.getAllByRole("treeitem").find((one) => one.textContent.startsWith(name))
  if (found === undefined) throw new Error(`no row ${name}`)
  return found
}

/** Lets a row fade to its end; React listens to a name of its own where there are no animations. */
export const fade = (ghost: HTMLElement): void => {
  for (const name of ["animationend", "webkitAnimationEnd"]) fireEvent(ghost, new Event(name, { bubbles: true }))
}
