/** A live chat, as its parent and its children use it. Each field is read from the chat when it is needed. */
import { Process } from "@troupe/otp"
import type { FamilyChat } from "../family/index.ts"
import { type LiveChat, sendChildren } from "../live/index.ts"

export class FamilyMember implements FamilyChat {
  readonly #chat: LiveChat

  constructor(chat: LiveChat) {
    this.#chat = chat
  }

  get id(): FamilyChat["id"] {
    return this.#chat.id
  }

  get pid(): FamilyChat["pid"] {
    return this.#chat.pid
  }

  get context(): FamilyChat["context"] {
    return this.#chat.context
  }

  get standing(): FamilyChat["standing"] {
    return this.#chat.process?.env.standing ?? this.context?.record.permissionMode
  }

  get mode(): FamilyChat["mode"] {
    const { permissions } = this.#options
    return this.standing?.mode ?? (permissions && (permissions.mode ?? "default"))
  }

  get budget(): FamilyChat["budget"] {
    return this.#options.budget
  }

  get team(): FamilyChat["team"] {
    return this.#chat.serving(this.context?.record.agent?.name).team
  }

  get turnEnds(): FamilyChat["turnEnds"] {
    return this.#chat.serving(this.context?.record.agent?.name).turnEnds
  }

  get stepUsage(): FamilyChat["stepUsage"] {
    return this.#chat.state.stepUsage
  }

  get #options(): ReturnType<LiveChat["serving"]>["chatOptions"] {
    return this.#chat.serving(this.context?.record.agent?.name).chatOptions
  }

  setPermissionMode(mode: Parameters<FamilyChat["setPermissionMode"]>[0]): Promise<void> {
    return this.#chat.setPermissionMode(mode)
  }

  childrenBegan(...children: Parameters<FamilyChat["childrenBegan"]>): Promise<void> {
    return this.#chat.asked((process) => sendChildren(this.id, process, ...children))
  }

  rests(): Promise<void> {
    this.#chat.release()
    return this.#chat.ends.rests()
  }

  cancel(): Promise<void> {
    return this.#chat.cancelTurn()
  }

  stop(): Promise<void> {
    return this.#chat.stop()
  }

  async pause(): Promise<void> {
    const { pid } = this.#chat
    if (pid === undefined) return
    const ended = new Promise<void>((resolve) => Process.onExit(pid, () => resolve()))
    this.#chat.passivate()
    await ended
  }

  watch(changed: () => void): () => void {
    return this.#chat.state.watch(changed)
  }
}
