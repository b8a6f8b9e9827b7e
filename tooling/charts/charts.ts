/**
 * The drawn charts and their files.
 *
 * @module
 */
import { join } from "node:path"
import { adapterStreamMachine, chatMachine, toolCallMachine } from "@troupe/chat/machines"
import { root } from "../house/workspace.ts"
import { mermaidOf } from "./mermaid.ts"

const machines = {
  adapterStream: adapterStreamMachine,
  chat: chatMachine,
  toolCall: toolCallMachine
} as const

/** Every chart of `@troupe/chat`, drawn: the file, and its expected content. */
export const drawings = () =>
  Object.entries(machines).map(([name, machine]) => ({
    file: join(root, "docs", "charts", `${name}.mmd`),
    text: mermaidOf(machine)
  }))
