/**
 * A chat as a component shows it.
 *
 * REACT1. A chat is rendered at most once in a frame, however much is said; where nothing is drawn, at the pace of its link.
 * REACT2. All components show the same of a chat at each drawing.
 * REACT3. A component that is gone, and one that StrictMode mounts twice, leaves no subscription and no frame.
 * REACT4. Another id shows another chat at once.
 * REACT5. Verbs stay the same functions while the chat is the same; parts that did not change are the same objects.
 * REACT6. A chat is rendered on the server, and the page takes over what the server made without a difference.
 *
 * @module
 */
import { ChatView as View } from "@troupe/chat/view"
import type { ChatView } from "@troupe/chat/view"
import type { ChatLink } from "@troupe/server"
import { useMemo, useSyncExternalStore } from "react"
import { pacedOf } from "./paced.ts"
import { useTroupe } from "./Provider.ts"

/**
 * What is to be done about a chat.
 *
 * - `ready`: it waits for the next message
 * - `running`: a turn runs
 * - `waiting`: it waits for an answer, for tool results, or for decisions
 * - `interrupted`: a turn was cut short by the end of its program; `retry` goes on
 */
export type ConversationStatus = "ready" | "running" | "waiting" | "interrupted"

/** What can be done with a chat. Each stays the same function for as long as the chat is the same. */
export type ConversationVerbs = Omit<ChatLink.ChatLink, "id" | "getState" | "subscribe"> & {
  /** Answers the question that is shown. */
  readonly answer: (answer: string) => Promise<void>
}

/**
 * A chat, and what can be done with it.
 *
 * - `connection`: whether the way to the chat is open
 * - `connectionError`: why it is not
 */
export interface Conversation extends ChatView.ChatView, ConversationVerbs {
  readonly status: ConversationStatus
  readonly connection: ChatLink.LinkStatus
  readonly connectionError: Error | undefined
}

/**
 * How a chat is shown.
 *
 * - `link`: another system than the provider's
 * - `initial`: what is shown until the chat is known: on the server, and while the page takes over what it made
 */
export interface ConversationOptions {
  readonly link?: ChatLink.TroupeLink | undefined
  readonly initial?: ChatView.ChatView | undefined
}

/**
 * Shows a chat, live, and says what can be done with it.
 *
 * **Details**: renders at most once in a frame while text streams, and not at all while nothing changes. Parts that did not
 * change are the same objects as before, so `memo` works on them. Another `id` shows another chat at once.
 *
 * **Errors**: the verbs reject with the errors of the chat; nothing of them is shown by itself.
 */
export const useChat = (id: string, { link, initial }: ConversationOptions = {}): Conversation => {
  const troupe = useTroupe(link)
  const chat = useMemo(() => troupe.chat(id), [troupe, id])
  const first = useMemo(() => stateBefore(id, initial), [id, initial])
  const { getSnapshot, subscribe } = pacedOf(chat)
  const known = useSyncExternalStore(subscribe, getSnapshot, () => first)
  const state = isNothingKnown(known) ? first : known
  return useMemo(() => conversation(chat, state), [chat, state])
}

const stateBefore = (id: string, initial: ChatView.ChatView | undefined): ChatLink.LinkState => ({
  view: initial ?? View.of(id, undefined),
  status: "connecting",
  error: undefined
})

const isNothingKnown = ({ status, view }: ChatLink.LinkState): boolean =>
  status === "connecting" && view.messages.length === 0

const conversation = (chat: ChatLink.ChatLink, { view, status, error }: ChatLink.LinkState): Conversation => ({
  ...view,
  ...verbsOf(chat),
  status: statusOf(view),
  connection: status,
  connectionError: error
})

const statusOf = ({ phase }: ChatView.ChatView): ConversationStatus => {
  switch (phase) {
    case "idle":
      return "ready"
    case "interrupted":
      return "interrupted"
    case "awaitingUser":
    case "awaitingTools":
    case "awaitingApproval":
      return "waiting"
    default:
      return "running"
  }
}

const verbsKnown = new WeakMap<ChatLink.ChatLink, ConversationVerbs>()

const verbsOf = (chat: ChatLink.ChatLink): ConversationVerbs => {
  let verbs = verbsKnown.get(chat)
  if (verbs === undefined) {
    verbs = {
      send: chat.send,
      answer: (answer) => chat.send(answer),
      cancel: chat.cancel,
      retry: chat.retry,
      resume: chat.resume,
      approve: chat.approve,
      submitToolResults: chat.submitToolResults,
      cancelToolCall: chat.cancelToolCall,
      restartToolCall: chat.restartToolCall,
      setPermissionMode: chat.setPermissionMode,
      history: chat.history,
      fork: chat.fork,
      rewind: chat.rewind
    }
    verbsKnown.set(chat, verbs)
  }
  return verbs
}
