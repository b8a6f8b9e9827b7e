// @vitest-environment jsdom
import { act, fireEvent, screen } from "@testing-library/react"
import { Fake, tool } from "@troupe/chat"
import { renderToString } from "react-dom/server"
import { describe, expect, test } from "vitest"
import { Observer, TurnTimeline } from "../../src/index.ts"
import { framesByHand, until } from "../double/frames.ts"
import { chatDouble, observerDouble } from "../double/observerLinks.ts"
import { far, near } from "../double/systems.ts"
import { row, show } from "./screen.ts"

const frames = framesByHand()

const has = (look: () => unknown): boolean => {
  try {
    return look() !== null
  } catch {
    return false
  }
}

describe.each([
  ["of the page", near],
  ["behind a server", far]
])("a living system %s", (_where, start) => {
  test("OBS2. has its chat killed and shows it again: the same row, another process, chosen and pointed out", async () => {
    const { link, troupe, innerId } = await start({
      adapter: Fake.make({ script: [{ text: "Once" }, { hang: true }] })
    })
    const label = `Chat ${innerId("c1")}`
    const chat = await troupe.chat(innerId("c1"))
    chat
      .send("Tell me a story")
      .result()
      .catch(() => {})
    await show(<Observer link={link.observer} chat={link.chat("c1")} />)
    const active = () => document.querySelector(".tro-active")?.textContent ?? ""
    await until(() => active().includes("is in running › phaseA"), frames)
    await until(() => has(() => screen.getByRole("button", { name: /^Turn: turn, from 0 ms/ })), frames)
    const before = row(label).dataset["id"]
    fireEvent.click(screen.getByRole("button", { name: "Kill…" }))
    await act(async () => fireEvent.click(screen.getByRole("button", { name: "Kill" })))
    await until(() => has(() => row(label)) && row(label).dataset["id"] !== before, frames)
    await until(() => row(label).getAttribute("aria-selected") === "true", frames)
    expect(row(label).textContent).toContain("back")
    await until(() => !active().includes("running"), frames)
  })

  test("shows the time spans of a call, each in its call's row", async () => {
    const { link, troupe, innerId } = await start({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "a", name: "add" } }, { finish: "tool_calls" }],
          [{ text: "Two." }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "add", execute: () => 2 })]
    })
    const chat = await troupe.chat(innerId("c1"))
    await show(<TurnTimeline link={link.observer} chat="c1" />)
    await until(() => screen.queryByText(/^No turn was seen yet/) !== null, frames)
    await chat.send("One and one?").result()
    const names = () => [...document.querySelectorAll(".tro-track-name")].map(({ textContent }) => textContent)
    await until(() => names().length >= 4, frames)
    expect(names().filter((name) => name === "add")).toHaveLength(1)
  })
})

test("a page made on a server has the observer's styles, and what is known there", () => {
  const { link } = observerDouble()
  const page = renderToString(<Observer link={link} chat={chatDouble().link} />)
  expect(page).toContain('data-href="troupe-observer"')
  expect(page).toContain("ChatSupervisor")
})
