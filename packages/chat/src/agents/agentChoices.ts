/**
 * Lets one caller choose the agent of a chat that has no entry yet.
 *
 * Owns: the choices that were made for living chats, and those under way. Does not own the agent, which is that of the chat.
 *
 * AGENT5. The first caller that gives the agent of a chat without an entry chooses it, while the chat is in memory. A later or concurrent
 *         caller with another agent is refused with `other_agent`. A choice that fails is none.
 */

export class AgentChoices {
  /** By living chat; each resolves with whether the choice was made. */
  readonly #made = new WeakMap<object, Promise<boolean>>()

  /** Runs `choose` if no choice was made for the chat. Else it resolves when the choice is made (AGENT5). */
  async choose(chat: object, choose: () => Promise<void>): Promise<void> {
    for (let made = this.#made.get(chat); made !== undefined; made = this.#made.get(chat)) {
      if (await made) return
    }
    const chosen = choose()
    const made = chosen.then(
      () => true,
      () => !this.#made.delete(chat)
    )
    this.#made.set(chat, made)
    await chosen
  }
}
