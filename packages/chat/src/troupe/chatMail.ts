/** The messages of the agents of a directory. */
import type { ChildChats } from "../children/index.ts"
import type { LiveChat, SupervisionTree } from "../live/index.ts"
import { AgentMail } from "../mail/index.ts"
import type { Conversation } from "../record/index.ts"
import { fenceOf, type Home } from "../store/index.ts"
import { FamilyMember } from "./familyMember.ts"
import type { LocalChatRef } from "./LocalChatRef.ts"

/** The parts of a Troupe that messages need. */
interface MailParts {
  readonly tree: SupervisionTree
  readonly home: Home | undefined
  readonly limits: { readonly maxWaitingInputs: number }
}

/** The chats of a directory. */
interface Chats {
  readonly get: (id: string) => { readonly chat: LiveChat } | undefined
  readonly called: (id: string) => Promise<LocalChatRef>
  readonly load: (id: string) => Promise<Conversation | undefined>
}

/** The messages of these chats. */
export const mailOf = ({ tree, home, limits }: MailParts, chats: Chats, children: ChildChats): AgentMail =>
  new AgentMail({
    living: (id) => {
      const chat = chats.get(id)?.chat
      return chat && new FamilyMember(chat)
    },
    load: (id) => chats.load(id),
    note: async (id, message, options) => (await chats.called(id)).note(message, options),
    withdraw: async (id, input) => (await chats.called(id)).withdraw(input),
    keep: (id, input) => tree.add<"accept">({ type: "accept", id, input, fence: fenceOf(home, id) }),
    maxWaiting: limits.maxWaitingInputs,
    run: (owner, call, asker) => children.run(owner, call, undefined, asker),
    joins: (child) => children.joins(child),
    graph: children.graph
  })
