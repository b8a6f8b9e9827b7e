/** A whole chat: the conversation, its status, and the field. */
import type { ReactNode } from "react"
import { useChat } from "../../hooks/index.ts"
import { classOf } from "../parts/index.ts"
import { ChatStatus } from "./chatStatus.tsx"
import { Composer, type ComposerProps } from "./composer.tsx"
import { Thread, type ThreadProps } from "./thread.tsx"

/** The props of {@link Chat}. */
export interface ChatProps extends Omit<ThreadProps, "chat" | "children">, Pick<ComposerProps, "models"> {
  /** The id of the conversation. */
  readonly id: string
  /** Renders a message. */
  readonly message?: ThreadProps["children"]
  /** More controls in the row of the composer's buttons. */
  readonly children?: ReactNode
}

/**
 * A chat of the nearest `TroupeProvider`, complete: the conversation, what it does now, and the field.
 *
 * **When to use**: when nothing stands between these parts. `Thread`, `ChatStatus` and `Composer` are the same, apart.
 */
export const Chat = ({ id, message, models, children, className, ...thread }: ChatProps): ReactNode => {
  const chat = useChat(id)
  return (
    <div className={classOf("chat", { className })}>
      <Thread {...thread} chat={chat}>
        {message}
      </Thread>
      <ChatStatus chat={chat} />
      <Composer chat={chat} models={models}>
        {children}
      </Composer>
    </div>
  )
}
