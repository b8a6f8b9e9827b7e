/**
 * The boards of teams: what the leader and the members write for all of them.
 *
 * Owns: the writes under way. The store has a board as a conversation of its own, below the root of its team.
 *
 * BOARD1. A post is stored before its call has its result, and is on the board once, also when the call runs again. Posts are never changed,
 *         and have the numbers 1, 2, 3 and so on in the order of their writes.
 * BOARD2. A board has at most 500 posts, of at most 4,000 characters each. A further one is refused with `board_full`. A read returns at
 *         most 50, from a number on.
 */
import type { FamilyChat } from "./familyChat.ts"
import { isRecord } from "../errors/index.ts"
import { type Message, text, type UserMessage } from "../model/index.ts"
import { agentIn, childId, type Conversation, type Entry, saved, shortIdOf } from "../record/index.ts"
import { blank } from "../store/index.ts"
import { type BoardPosts, type BoardRefusal, digest } from "../tool/index.ts"
import { teamOf } from "./addressee.ts"

/** The functions that boards need from the directory of chats. */
export interface BoardHome {
  readonly living: (id: string) => FamilyChat | undefined
  readonly load: (id: string) => Promise<Conversation | undefined>
  readonly append: (id: string, entry: Entry, after: number) => Promise<unknown>
}

const mostPosts = 500

/** The most characters of a post. */
const mostChars = 4_000

const mostRead = 50

export class Boards {
  readonly #home: BoardHome
  /** The last write of each board. */
  readonly #writes = new Map<string, Promise<unknown>>()

  constructor(home: BoardHome) {
    this.#home = home
  }

  #leaderOf(chat: string): FamilyChat | undefined {
    const from = this.#home.living(chat)
    const parent = from?.context?.record.parent?.chat
    return from && teamOf(from, parent === undefined ? undefined : this.#home.living(parent))
  }

  /** Writes a post of a chat on the board of its team, once for each key (BOARD1). */
  async write(chat: string, post: string, callKey: string): Promise<{ readonly post: number } | BoardRefusal> {
    const leader = this.#leaderOf(chat)
    const key = digest(callKey)
    if (leader === undefined) return noTeam
    if (post.length > mostChars) {
      return {
        refused: "too_long",
        message: `a post has at most ${mostChars} characters, and this one has ${post.length}`
      }
    }
    const id = boardId(leader.id)
    const written = (this.#writes.get(id) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#add(leader, id, postOf(leader.id, chat, post, key), key))
    this.#writes.set(id, written)
    try {
      return await written
    } finally {
      if (this.#writes.get(id) === written) this.#writes.delete(id)
    }
  }

  async #add(
    leader: FamilyChat,
    id: string,
    post: UserMessage,
    key: string
  ): Promise<{ readonly post: number } | BoardRefusal> {
    const record = await this.#home.load(id)
    const posts = record?.thread.messages ?? []
    const known = posts.findIndex((one) => keyOf(one) === key)
    if (known !== -1) return { post: known + 1 }
    if (posts.length >= mostPosts) {
      return { refused: "board_full", message: `the board has ${mostPosts} posts, and no more may be written` }
    }
    const parent = { chat: leader.id, call: "board", depth: (leader.context?.record.parent?.depth ?? 0) + 1 }
    const entry: Entry =
      record === undefined
        ? saved({ ...blank(id), parent, thread: { messages: [post] } })
        : { type: "MessagesAdded", messages: [post] }
    await this.#home.append(id, entry, record?.version ?? 0)
    return { post: posts.length + 1 }
  }

  /** The posts on the board of the team of a chat, after a number. */
  async read(chat: string, after: number): Promise<BoardPosts | BoardRefusal> {
    const leader = this.#leaderOf(chat)
    if (leader === undefined) return noTeam
    const posts = (await this.#home.load(boardId(leader.id)))?.thread.messages ?? []
    const read = posts.slice(after, after + mostRead)
    const shown = read.map((one, at) => ({ post: after + at + 1, from: writerOf(one), text: text(one) }))
    return { posts: shown, next: after + read.length, last: posts.length }
  }
}

const noTeam = { refused: "no_team", message: "this chat neither leads a team nor is a member of one" } as const

/** The id of the conversation that is the board of a leader's team. */
const boardId = (leader: string): string => childId(leader, `board-${digest(`board/${leader}`)}`)

const postOf = (leader: string, chat: string, content: string, key: string): UserMessage => ({
  role: "user",
  content,
  metadata: { post: { key, from: chat === leader ? "leader" : shortIdOf(chat, agentIn(chat)) } }
})

const partOf = ({ metadata }: Message, part: "key" | "from"): unknown =>
  isRecord(metadata?.["post"]) ? metadata["post"][part] : undefined

const keyOf = (post: Message): unknown => partOf(post, "key")

const writerOf = (post: Message): string => String(partOf(post, "from"))
