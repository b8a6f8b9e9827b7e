/** What a model thought, folded. */
import type { ReactNode } from "react"
import { classOf, Icon, type PartProps } from "../parts/index.ts"

/** The props of {@link Reasoning}. */
export interface ReasoningProps extends PartProps {
  /** What the model thought. */
  readonly text: string
  /** Whether it streams. Default: `false`. */
  readonly isLive?: boolean | undefined
  /** What to show in place of the plain text. */
  readonly children?: ReactNode
}

/** The reasoning of a reply, folded until a reader opens it. */
export const Reasoning = ({ text, isLive = false, className, children }: ReasoningProps): ReactNode => (
  <details className={classOf("reasoning", { className })} data-state={isLive ? "streaming" : "done"}>
    <summary>
      <Icon name="open" />
      {isLive ? "Thinking …" : "Thoughts"}
    </summary>
    {children ?? <p>{text}</p>}
  </details>
)
