/**
 * The hook for one chat.
 *
 * REACT1. A chat is rendered at most once a frame, however often it changes; where nothing is drawn, at the pace of its
 *         link.
 * REACT3. A component that unmounts, or that StrictMode mounts twice, leaves no subscription and no frame.
 * REACT4. When the id changes, the new chat is shown at once.
 * REACT5. Verbs are the same functions while the chat is the same; parts that did not change are the same objects.
 * REACT6. A chat is rendered on the server, and the page hydrates that output without a difference.
 *
 * @module
 */
import { ChatView as View } from "@troupe/chat/view"
import type { ChatView } from "@troupe/chat/view"
import * as ChatLink from "@troupe/server/ChatLink"
import { useMemo, useSyncExternalStore } from "react"
import { pacedOf } from "./paced.ts"
import { useTroupe } from "./Provider.ts"

/** The actions of a chat. Each is the same function while the chat is the same. */
export type ConversationVerbs = Omit<ChatLink.ChatLink, "id" | "getState" | "subscribe" | "cancel" | "answer"> & {
  /** Cancels the running turn. It has no arguments, so that it can be an event handler. */
  readonly cancel: () => Promise<void>
  /** Answers what the chat waits for, in one turn, as `chat.answer`. A text answers the current question. */
  readonly answer: (
    answers: string | Parameters<ChatLink.ChatLink["answer"]>[0],
    options?: Parameters<ChatLink.ChatLink["answer"]>[1]
  ) => Promise<void>
}

/** A chat, and its actions. */
export interface Conversation extends ChatView.ChatView, ConversationVerbs {
  /** Whether the connection to the chat is open. */
  readonly connection: ChatLink.LinkStatus
  /** Why the connection is not open. */
  readonly connectionError: Error | undefined
}

/** The options of {@link useChat}. */
export interface ConversationOptions {
  /** The Troupe or the server of the conversation. Default: that of the provider. */
  readonly link?: ChatLink.TroupeLink | undefined
  /** The view until the chat is known: on the server, and during hydration. Default: an empty one. */
  readonly initial?: ChatView.ChatView | undefined
}

/**
 * Shows a chat, live, and returns its actions.
 *
 * **Details**: renders at most once a frame while text streams, and not at all while nothing changes. Parts that did not
 * change are the same objects as before, so `memo` works on them. When `id` changes, the new chat is shown at once.
 *
 * **Errors**: the verbs reject with the errors of the chat; the hook shows none of them.
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
  view: initial ?? View.apply(undefined, { rest: { id } }),
  status: "connecting",
  error: undefined
})

const isNothingKnown = ({ status, view }: ChatLink.LinkState): boolean =>
  status === "connecting" && view.messages.length === 0

const conversation = (chat: ChatLink.ChatLink, { view, status, error }: ChatLink.LinkState): Conversation => ({
  ...view,
  ...verbsOf(chat),
  connection: status,
  connectionError: error
})

const verbsKnown = new WeakMap<ChatLink.ChatLink, ConversationVerbs>()

const verbsOf = (chat: ChatLink.ChatLink): ConversationVerbs => {
  let verbs = verbsKnown.get(chat)
  if (verbs === undefined) {
    const { send, history, fork, rewind } = chat
    verbs = {
      ...(Object.fromEntries(ChatLink.verbNames.map((name) => [name, chat[name]])) as Pick<
        ChatLink.ChatLink,
        ChatLink.Verb
      >),
      send,
      answer: (answers, options) => chat.answer(typeof answers === "string" ? { input: answers } : answers, options),
      cancel: () => chat.cancel(),
      history,
      fork,
      rewind
    }
    verbsKnown.set(chat, verbs)
  }
  return verbs
}
