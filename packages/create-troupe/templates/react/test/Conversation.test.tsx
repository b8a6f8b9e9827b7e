// @vitest-environment jsdom
import { cleanup, configure, fireEvent, render, screen } from "@testing-library/react"
import { Troupe } from "@troupe/chat"
import { local, TroupeProvider } from "@troupe/react"
import { afterEach, beforeEach, expect, test } from "vitest"
import { agent } from "../src/agent.ts"
import { Conversation } from "../src/Conversation.tsx"
import { scripted } from "../src/scripted.ts"

configure({ asyncUtilTimeout: 10_000 })

let troupe: Troupe

beforeEach(async () => {
  troupe = await Troupe.start({ ...agent, adapter: scripted(0) })
  render(
    <TroupeProvider link={local(troupe)}>
      <Conversation id="c1" />
    </TroupeProvider>
  )
})

afterEach(async () => {
  cleanup()
  await troupe.stop()
})

const ask = async (text: string) => {
  fireEvent.change(await screen.findByLabelText("Message"), { target: { value: text } })
  fireEvent.click(screen.getByLabelText("Send"))
}

test("an answer is shown", async () => {
  await ask("Where is order 7?")
  expect(await screen.findByText(/I have asked the shop/)).toBeDefined()
})

test("a refund runs once it is allowed", async () => {
  await ask("Refund order 7")
  fireEvent.click(await screen.findByText("Allow"))
  expect(await screen.findByText(/I have asked the shop.*are paid back/)).toBeDefined()
})
