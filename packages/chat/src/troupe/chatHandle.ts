/** The handle of a chat for its tools: its messages, memories, sub-agents and background tasks, and the messages of its agents. */
import type { System } from "@troupe/otp"
import { type BackgroundTasks, type ChildChats, tasksFor } from "../children/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import { isInterrupted } from "../inbox/index.ts"
import type { LiveChat, SupervisionTree } from "../live/index.ts"
import { AgentMail, Boards } from "../family/index.ts"
import type { Conversation } from "../record/index.ts"
import { fenceOf, type Home } from "../store/index.ts"
import * as Usage from "../model/Usage.ts"
import type { ChatHandle } from "../tool/index.ts"
import { FamilyMember } from "./familyMember.ts"
import type { LocalChatRef } from "./LocalChatRef.ts"
import type { Memories } from "./memories.ts"

/** The parts of a Troupe that the handles need. */
interface HandleParts {
  readonly system: System.System
  readonly tree: SupervisionTree
  readonly home: Home | undefined
  readonly limits: { readonly maxWaitingInputs: number }
  readonly memories: Memories
}

/** A requested chat, and its address. */
interface Handled {
  readonly chat: LiveChat
  readonly ref: LocalChatRef
}

/** The chats of a directory. */
interface Chats {
  readonly tasks: BackgroundTasks
  readonly boards: Boards
  readonly get: (id: string) => Pick<Handled, "chat"> | undefined
  readonly called: (id: string) => Promise<LocalChatRef>
  readonly load: (id: string) => Promise<Conversation | undefined>
}

/** The handle of a chat for its tools. */
export const handleOf = (
  { chat, ref }: Handled,
  children: ChildChats | undefined,
  {
    parts,
    chats,
    agent,
    all
  }: {
    readonly parts: HandleParts
    readonly chats: Chats
    readonly agent: string | undefined
    readonly all: Pick<ChildChats, "spending">
  }
): ChatHandle => {
  const { id } = chat
  const { clock } = parts.system
  return {
    id,
    send: async (input, options) => ref.note(input, options).receipt,
    past: {
      messages: () => ref.getSnapshot()?.context.thread.messages ?? [],
      search: (query, { prefix, limit }) => {
        const where = prefix === undefined ? { chat: id } : { prefix }
        return parts.tree.ask({ type: "search", options: { query, limit, ...where } })
      }
    },
    exhausted: (more = Usage.empty) => all.spending(id).exhausted(more),
    memories: parts.memories.of(id, () => chat.context?.record.inputs?.[0]),
    ...(children !== undefined && {
      subagent: (call) => children.run(id, call),
      message: (call) => mailOf(parts, chats, children).send(id, call),
      board: {
        write: (post, key) => chats.boards.write(id, post, key),
        read: (after) => chats.boards.read(id, after)
      }
    }),
    ...tasksFor(chats.tasks, id, { clock, agent, mail: waitingMail(chat) })
  }
}

/** The waiting inputs of a chat, for the waits of its tools. */
const waitingMail = ({ view: { state } }: LiveChat): Parameters<typeof tasksFor>[2]["mail"] => ({
  isWaiting: () => Inbox.entries(state.context?.inbox ?? []).length > 0,
  watch: (changed) => state.watch(changed)
})

/** A chat, as its family uses it, if it is in memory. */
const memberOf = (chats: Pick<Chats, "get">, id: string): FamilyMember | undefined => {
  const chat = chats.get(id)?.chat
  return chat && new FamilyMember(chat)
}

/** The boards of the teams of these chats. */
export const boardsOf = (
  { tree, home }: Pick<HandleParts, "tree" | "home">,
  chats: Pick<Chats, "get" | "load">
): Boards =>
  new Boards({
    living: (id) => memberOf(chats, id),
    load: (id) => chats.load(id),
    append: (id, entry, after) => tree.ask({ type: "append", id, entries: [entry], after, fence: fenceOf(home, id) })
  })

/** The messages of these chats. */
const mailOf = ({ tree, home, limits }: HandleParts, chats: Chats, children: ChildChats): AgentMail =>
  new AgentMail({
    living: (id) => memberOf(chats, id),
    load: (id) => chats.load(id),
    note: async (id, message, options) => (await chats.called(id)).note(message, options),
    goOn: async (id) => {
      const ref = await chats.called(id)
      const { context, isBusy = true } = chats.get(id)?.chat ?? {}
      return context !== undefined && !isBusy && isInterrupted(context) ? ref.retry() : undefined
    },
    withdraw: async (id, input) => (await chats.called(id)).withdraw(input),
    keep: (id, input) => tree.add<"accept">({ type: "accept", id, input, fence: fenceOf(home, id) }),
    begin: (owner, id, call) => children.notes.member(owner, id, call),
    wake: (owner, id, work) => chats.tasks.wake(owner, id, work),
    messageRefusal: (id) => children.tree.messageRefusal(id),
    maxWaiting: limits.maxWaitingInputs,
    run: (owner, call, asker) => children.run(owner, call, undefined, asker),
    works: (child) => children.works(child),
    graph: children.graph
  })
