import { type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import { type ChatLink, Client, Local, Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { onTestFinished } from "vitest"

/** A link to a system, and the system. */
export interface LinkedSystem {
  readonly troupe: RunningTroupe
  readonly link: ChatLink.TroupeLink
  /** What the system calls a chat of the link. */
  readonly innerId: (id: string) => string
}

/** A system of the page. */
export const near = async (options: TroupeOptions): Promise<LinkedSystem> => {
  const troupe = await Troupe.start(options)
  onTestFinished(() => troupe.stop())
  return { troupe, link: Local.local(troupe), innerId: (id) => id }
}

/** A system behind a server of this computer. */
export const far = async (options: TroupeOptions): Promise<LinkedSystem> => {
  const troupe = await Troupe.start(options)
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "anna", may: { approve: true, observe: true, agents: true, models: true } })
  })
  const { url, close } = await listen(server, { graceMs: 100 })
  onTestFinished(async () => {
    await close()
    await troupe.stop()
  })
  return { troupe, link: Client.connect({ url }), innerId: (id) => `anna/${id}` }
}

/** Counts who is subscribed to a link's chats. */
export const counted = (
  link: ChatLink.TroupeLink
): { readonly link: ChatLink.TroupeLink; readonly open: () => number } => {
  let open = 0
  const chats = new Map<string, ChatLink.ChatLink>()
  const countedChat = (id: string): ChatLink.ChatLink => {
    const chat = link.chat(id)
    return {
      ...chat,
      id,
      getState: chat.getState,
      subscribe: (changed) => {
        const leave = chat.subscribe(changed)
        open += 1
        return () => {
          open -= 1
          leave()
        }
      }
    }
  }
  return {
    open: () => open,
    link: {
      ...link,
      chat: (id) => {
        const known = chats.get(id) ?? countedChat(id)
        chats.set(id, known)
        return known
      }
    }
  }
}
