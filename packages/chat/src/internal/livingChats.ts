/** The chats of a Troupe that live, for those who observe it: not of its public face. */
import type { Pid } from "@troupe/otp"
import type { RunningTroupe } from "../Troupe.ts"
import type { LiveChat } from "./liveChat.ts"

/** By their id. */
export type LivingChats = ReadonlyMap<string, { readonly chat: LiveChat }>

const living = new WeakMap<RunningTroupe, LivingChats>()

/** A Troupe says which map it keeps them in. */
export const keepsLiving = (troupe: RunningTroupe, chats: LivingChats): void => void living.set(troupe, chats)

const none: LivingChats = new Map()

export const livingChatsOf = (troupe: RunningTroupe): LivingChats => living.get(troupe) ?? none

/** What the process of a chat is shown as. */
export const chatLabel = (id: string): string => `Chat ${id}`

const labelBegins = chatLabel("").length

/** The id of the chat that a process is, if it is one. */
export const chatAt = (chats: LivingChats, pid: Pid): string | undefined => {
  const id = pid.label.slice(labelBegins)
  return chats.get(id)?.chat.pid === pid ? id : undefined
}
