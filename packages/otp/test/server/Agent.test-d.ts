import { expectTypeOf } from "vitest"
import { Agent, Process } from "../../src/index.ts"
import type { System } from "../../src/index.ts"

declare const system: System.System

const agent = await Agent.start(system, () => ({ count: 1 }))

expectTypeOf(agent).toEqualTypeOf<Agent.Agent<{ count: number }>>()
expectTypeOf(Agent.get(agent, ({ count }) => String(count))).toEqualTypeOf<Promise<string>>()
expectTypeOf(Agent.getAndUpdate(agent, (state) => [state.count, state] as const)).toEqualTypeOf<Promise<number>>()
expectTypeOf(Agent.update(agent, ({ count }) => ({ count: count + 1 }))).toEqualTypeOf<Promise<void>>()
Agent.cast(agent, () => Promise.resolve({ count: 0 }))

// @ts-expect-error the value has no such field
void Agent.get(agent, (state) => state.size)
// @ts-expect-error the value keeps its type
void Agent.update(agent, () => 1)
// @ts-expect-error the value keeps its type
Agent.cast(agent, () => "none")
// @ts-expect-error an agent takes functions, by `cast` and `update`, and no messages
Process.send(agent, { count: 1 })
