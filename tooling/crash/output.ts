/** The output of a program that will be killed: each line is written before the program continues. */
import { writeSync } from "node:fs"
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import type { Line } from "./lines.ts"

/** Writes a line. */
export const say = (line: Line): void => void writeSync(1, `${JSON.stringify(line)}\n`)

/** Waits for the answer of a turn, and writes it. */
export const answered = async (chat: LocalChatRef, turn: LiveTurn): Promise<void> => {
  const { thread } = await turn.result()
  const last = thread.messages.at(-1)
  if (last?.role === "assistant") say({ type: "answered", chat: chat.id, text: Message.text(last) })
}
