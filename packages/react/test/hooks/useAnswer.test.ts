// @vitest-environment jsdom
import { render } from "@testing-library/react"
import { createElement, type FunctionComponent } from "react"
import { describe, expect, expectTypeOf, test } from "vitest"
import * as z from "zod"
import { type Answer, type Conversation, TroupeProvider, useAnswer, useChat } from "../../src/index.ts"
import { framesByHand, until } from "../double/frames.ts"
import { handModel } from "../double/handModel.ts"
import { far, near } from "../double/systems.ts"

const frames = framesByHand()

const City = z.object({ name: z.string(), sights: z.array(z.string()).max(2) })
type City = z.infer<typeof City>

/** A component that shows the answer of a chat, and what it showed last. */
const showing = (schema: Parameters<typeof useAnswer<City>>[1] = City) => {
  const shown: { chat: Conversation | undefined; now: Answer<City> | undefined } = { chat: undefined, now: undefined }
  const Page: FunctionComponent = () => {
    const chat = useChat("c1")
    shown.chat = chat
    shown.now = useAnswer(chat, schema)
    return createElement("p", undefined, shown.now.object?.name)
  }
  return { shown, Page }
}

describe.each([
  ["a system of the page", near],
  ["a system behind a server", far]
])("ANSWER1 over %s", (_, system) => {
  test("the object grows while the reply streams, and is the schema's own when it is complete", async () => {
    const model = handModel()
    const { link } = await system({ adapter: model, schema: City })
    const { shown, Page } = showing()
    const page = render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.chat?.connection === "open", frames)
    expect(shown.now).toEqual({ partial: undefined, object: undefined, findings: [] })
    await shown.chat?.send("Where?")
    await until(() => shown.chat?.status === "running", frames)
    model.text('{"name":"Oslo","sights":["The Op')
    await until(() => shown.now?.partial !== undefined, frames)
    expect(shown.now).toEqual({ partial: { name: "Oslo", sights: ["The Op"] }, object: undefined, findings: [] })
    model.text('era"]}')
    model.finish()
    await until(() => shown.chat?.status === "completed", frames)
    const city = { name: "Oslo", sights: ["The Opera"] }
    expect(shown.now).toEqual({ partial: city, object: city, findings: [] })
    page.unmount()
  })
})

const replied = async (text: string, schema?: Parameters<typeof useAnswer<City>>[1]) => {
  const model = handModel()
  const { link } = await near({ adapter: model, schema: City })
  const { shown, Page } = showing(schema)
  const page = render(createElement(TroupeProvider, { link }, createElement(Page)))
  await until(() => shown.chat?.connection === "open", frames)
  await shown.chat?.send("Where?")
  await until(() => shown.chat?.status === "running", frames)
  model.text(text)
  model.finish()
  await until(() => shown.chat?.status === "completed", frames)
  return { shown, page }
}

test("a reply that does not fit has findings, and no object", async () => {
  const { shown, page } = await replied('{"name":7,"sights":[]}')
  expect(shown.now).toMatchObject({ partial: { name: 7 }, object: undefined, findings: [{ field: ["name"] }] })
  page.unmount()
})

test("ANSWER1 a reply in a code fence has its object", async () => {
  const { shown, page } = await replied('```json\n{"name":"Oslo","sights":[]}\n```')
  const city = { name: "Oslo", sights: [] }
  expect(shown.now).toEqual({ partial: city, object: city, findings: [] })
  page.unmount()
})

test("a reply that is no JSON has a finding", async () => {
  const { shown, page } = await replied("Oslo")
  expect(shown.now).toMatchObject({ partial: undefined, findings: [{ field: ["outputText"] }] })
  page.unmount()
})

test("ANSWER2 the result of a validation that takes time is shown when it comes", async () => {
  const { shown, page } = await replied(
    '{"name":"Oslo","sights":[]}',
    City.refine(async () => true)
  )
  await until(() => shown.now?.object !== undefined, frames)
  expect(shown.now?.object).toEqual({ name: "Oslo", sights: [] })
  page.unmount()
})

test("the types of an answer are those of its schema", () => {
  expectTypeOf<Answer<City>["object"]>().toEqualTypeOf<City | undefined>()
  expectTypeOf<Answer<City>["partial"]>().toEqualTypeOf<
    { readonly name?: string; readonly sights?: ReadonlyArray<string> } | undefined
  >()
})
