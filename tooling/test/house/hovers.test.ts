import { join } from "node:path"
import type { LocalChatRef, RunningTroupe } from "@troupe/chat"
import { API } from "typescript/unstable/sync"
import { expect, test } from "vitest"
import { readText, root } from "../../house/workspace.ts"

/** What a program reads of a chat; the comment after each value is what an editor shows for it. */
export const reads = async (troupe: RunningTroupe, chat: LocalChatRef): Promise<void> => {
  const result = await chat.send("Hello").result() // => ChatResult
  const { finalResponse } = result // => Response | undefined
  const { thread } = chat // => Thread
  const { messages } = thread // => readonly Message[]
  const message = result.thread.messages[0] // => Message | undefined
  const step = result.steps[0] // => StepResult | undefined
  const usage = finalResponse?.usage // => Usage | undefined
  const calls = finalResponse?.toolCalls // => readonly ToolCall[] | undefined
  const entries = await troupe.history("c1") // => readonly Commit[]
  const rewound = await troupe.rewind("c1", 1) // => Conversation
  const view = await chat.view() // => ChatView
  void { messages, message, step, usage, calls, entries, rewound, view }
}

test("DOC4. an editor shows the name of a result's type, for what a program reads of a chat", () => {
  const path = "tooling/test/house/hovers.test.ts"
  const text = readText(path)
  const api = new API({ cwd: root })
  const checker = api.updateSnapshot({ openProjects: [join(root, "tooling/tsconfig.json")] }).getProjects()[0]?.checker
  const shown = [...text.matchAll(/^ {2}const (?:\{ )?(\w+).* \/\/ => (.*)$/gm)].map(
    ({ index, 1: name = "", 2: named }) => {
      const type = checker?.getTypeAtPosition(join(root, path), index + text.slice(index).search(name))
      return { name, named, shown: type && checker?.typeToString(type) }
    }
  )
  api.close()
  expect(shown).toHaveLength(11)
  expect(shown.filter(({ named, shown: found }) => named !== found)).toEqual([])
})
