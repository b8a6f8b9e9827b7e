/** The chats of a Troupe that live, for those who observe it: not of its public face. */
import type { RunningTroupe } from "../Troupe.ts"
import type { LiveChat } from "./liveChat.ts"

/** By their id. */
export type LivingChats = ReadonlyMap<string, { readonly chat: LiveChat }>

const living = new WeakMap<RunningTroupe, LivingChats>()

/** A Troupe says which map it keeps them in. */
export const keepsLiving = (troupe: RunningTroupe, chats: LivingChats): void => void living.set(troupe, chats)

const none: LivingChats = new Map()

export const livingChatsOf = (troupe: RunningTroupe): LivingChats => living.get(troupe) ?? none
