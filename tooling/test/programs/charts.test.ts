import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { expect, test } from "vitest"
import { createMachine } from "xstate"
import { drawings } from "../../charts/charts.ts"
import { mermaidOf } from "../../charts/mermaid.ts"

test.each(drawings())("docs/charts shows the machine as it is: $file", ({ file, text }) => {
  expect(readFileSync(file, "utf8"), `draw ${basename(file)} again with \`pnpm charts\``).toBe(text)
})

test("a drawing has every state and every transition, with event, guard and actions", () => {
  const machine = createMachine({
    id: "door",
    initial: "closed",
    states: {
      closed: { on: { open: { target: "open.wide", guard: "hasKey", actions: "creak" } } },
      open: {
        initial: "ajar",
        entry: "light",
        after: { 100: "closed" },
        states: { ajar: {}, wide: { type: "final" } },
        onDone: "closed"
      }
    },
    on: { knock: { actions: "bark" } }
  })
  expect(mermaidOf(machine)).toBe(`stateDiagram-v2
  direction TB
  [*] --> closed
  state "closed" as closed
  state "open" as open {
    [*] --> open_ajar
    state "ajar" as open_ajar
    state "wide" as open_wide
    open_wide --> [*]
  }
  note right of open
    entry / light
  end note
  closed --> open_wide : open [hasKey] / creak
  open --> closed : done
  open --> closed : after 100
  note right of closed
    knock / bark
  end note
`)
})
