/**
 * The drawn charts and their files.
 *
 * @module
 */
import { join } from "node:path"
import {
  adapterStreamMachine,
  batchMachine,
  chatMachine,
  resumedStepMachine,
  stepMachine,
  toolCallMachine
} from "@troupe/chat/machines"
import { root } from "../house/workspace.ts"
import { mermaidOf } from "./mermaid.ts"

/** One drawn chart: the file, and its expected content. */
export interface Drawing {
  readonly file: string
  readonly text: string
}

const machines = {
  adapterStream: adapterStreamMachine,
  batch: batchMachine,
  chat: chatMachine,
  resumedStep: resumedStepMachine,
  step: stepMachine,
  toolCall: toolCallMachine
} as const

/** Every chart of `@troupe/chat`, drawn. */
export const drawings = (): ReadonlyArray<Drawing> =>
  Object.entries(machines).map(([name, machine]) => ({
    file: join(root, "docs", "charts", `${name}.mmd`),
    text: mermaidOf(machine)
  }))
