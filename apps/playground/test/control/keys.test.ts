import { expect, test } from "vitest"
import { type NodeState, type NodeStatus, press } from "../../src/control/index.ts"

const node = (number: number, state: NodeState = "running"): NodeStatus => ({
  number,
  role: number === 0 ? "gateway" : "home",
  state,
  pid: undefined,
  address: `127.0.0.1:${number}`,
  buckets: 0,
  epoch: undefined,
  chats: 0
})

const nodes = [node(0), node(1), node(2, "frozen")]

/** The commands of some keys. */
const typed = (keys: string) => {
  let letter: string | undefined
  return Array.from(keys).flatMap((key) => {
    const pressed = press(letter, key, nodes)
    letter = pressed.letter
    return pressed.command ?? []
  })
}

test("a letter and the digit of a node are a command, with or without a space, in any case", () => {
  expect(typed("k1")).toEqual([{ type: "kill", node: 1 }])
  expect(typed("K 0")).toEqual([{ type: "kill", node: 0 }])
  expect(typed("d1s2")).toEqual([
    { type: "drain", node: 1 },
    { type: "start", node: 2 }
  ])
})

test("f freezes a node that runs, and wakes one that is frozen", () => {
  expect(typed("f1f2")).toEqual([
    { type: "freeze", node: 1 },
    { type: "wake", node: 2 }
  ])
})

test("a adds a home without a digit", () => {
  expect(typed("a")).toEqual([{ type: "add" }])
})

test("a digit without a letter, a digit of no node, and other keys are no command, and a letter is used once", () => {
  expect(typed("1 x")).toEqual([])
  expect(typed("k9k1")).toEqual([{ type: "kill", node: 1 }])
  expect(typed("kx1")).toEqual([])
  expect(typed("k11")).toEqual([{ type: "kill", node: 1 }])
})
