// @vitest-environment jsdom
import { act, fireEvent, render, screen } from "@testing-library/react"
import type { PendingApproval } from "@troupe/chat/tools"
import * as Clock from "@troupe/otp/clock"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { renderToString } from "react-dom/server"
import { describe, expect, test } from "vitest"
import { css } from "../../src/observer/css/index.ts"
import { useStillRows } from "../../src/ui/lists/stillRows.ts"
import { Approval, Composer, Markdown, Question } from "../../src/ui.ts"

const approval: PendingApproval = {
  toolCall: { id: "t1", name: "charge", arguments: { dollars: 20 } },
  kind: "permission",
  reason: "",
  askedAt: 0
}

const shown = () => {
  const clock = Clock.test()
  const sent: Array<unknown> = []
  const page = render(
    <Approval
      approval={approval}
      clock={clock}
      onDecide={async (id, decision) => {
        sent.push([id, decision])
      }}
    />
  )
  return { clock, sent, page }
}

const press = (name: string): void => {
  fireEvent.click(screen.getByRole("button", { name }))
}

describe("a decision", () => {
  test("UNDO1. is sent once, three seconds later", async () => {
    const { clock, sent } = shown()
    press("Allow")
    await act(() => clock.advance(2_999))
    expect(sent).toEqual([])
    await act(() => clock.advance(10_000))
    expect(sent).toEqual([["t1", { type: "allow" }]])
  })

  test("UNDO1. that is undone is never sent, and another one can be made", async () => {
    const { clock, sent, page } = shown()
    press("Deny")
    press("Undo")
    await act(() => clock.advance(10_000))
    expect(sent).toEqual([])
    press("Allow")
    await act(() => clock.advance(3_000))
    page.unmount()
    expect(sent).toEqual([["t1", { type: "allow" }]])
  })

  test("UNDO1. is sent at once when its card goes or the page is left, and not again", async () => {
    const first = shown()
    press("Deny")
    first.page.unmount()
    await act(() => first.clock.advance(10_000))
    expect(first.sent).toEqual([["t1", { type: "deny" }]])
    const second = shown()
    press("Allow")
    await act(async () => void dispatchEvent(new Event("pagehide")))
    await act(() => second.clock.advance(10_000))
    expect(second.sent).toEqual([["t1", { type: "allow" }]])
    second.page.unmount()
  })

  test("has the arguments that a person changed, and is not possible with arguments that are no object", async () => {
    const { clock, sent, page } = shown()
    press("Edit the arguments")
    const field = screen.getByRole("textbox", { name: "Arguments of charge" })
    for (const text of ["{", "[1]", "20"]) {
      fireEvent.change(field, { target: { value: text } })
      expect(screen.getByRole("button", { name: "Allow" })).toHaveProperty("disabled", true)
    }
    fireEvent.change(field, { target: { value: '{ "dollars": 25 }' } })
    press("Allow")
    await act(() => clock.advance(3_000))
    expect(sent).toEqual([["t1", { type: "allow", arguments: { dollars: 25 } }]])
    page.unmount()
  })

  test("that is refused is shown as refused, and can be made again", async () => {
    const page = render(
      <Approval approval={approval} undoMs={0} onDecide={() => Promise.reject(new Error("decided already"))} />
    )
    await act(async () => press("Allow"))
    expect(screen.getByRole("alert").textContent).toBe("decided already")
    screen.getByRole("button", { name: "Deny" })
    page.unmount()
  })
})

test("a question has a button for each choice, and its field keeps an answer that is refused", async () => {
  const answers: Array<string> = []
  const page = render(
    <Question
      question="Red or white?"
      options={{ choices: ["red", 1, "white"] }}
      onAnswer={async (answer) => {
        answers.push(answer)
        if (answer !== "red") throw new Error("no such wine")
      }}
    />
  )
  await act(async () => press("red"))
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "green" } })
  await act(async () => press("Answer"))
  expect(answers).toEqual(["red", "green"])
  expect(screen.getByRole("alert").textContent).toBe("no such wine")
  expect(screen.getByRole("textbox")).toHaveProperty("value", "green")
  page.unmount()
})

test.each([
  ["https://shop.example/pay?a=1", true],
  ["javascript:alert(1)", false],
  ["JavaScript:alert(1)//https://shop.example", false],
  ["data:text/html,<script>alert(1)</script>", false],
  ["<img src=x onerror=alert(1)>", false]
])("a question with the page %s shows its whole address, and links only to pages", async (url, isLink) => {
  const answers: Array<string> = []
  const declined: Array<true> = []
  const onDecide = async (_: string, { type, value }: { readonly type: string; readonly value?: unknown }) =>
    type === "deny" ? declined.push(true) : answers.push(String(value))
  const asked = { kind: "question" as const, reason: "Pay here", options: { server: "shop", url } }
  const page = render(<Approval approval={{ ...approval, ...asked }} onDecide={onDecide} />)
  expect(screen.getByText(url).getAttribute("href")).toBe(isLink ? url : null)
  expect(page.container.querySelectorAll("a, img, script")).toHaveLength(isLink ? 1 : 0)
  await act(async () => press("Done"))
  await act(async () => press("Decline"))
  expect([answers, declined]).toEqual([["Done"], [true]])
  page.unmount()
})

describe("a question with a schema", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", title: "Your name", description: "As on the card", pattern: "(a+)+$" },
      mail: { type: "string", format: "email" },
      count: { type: "integer", minimum: 1, default: 2 },
      gift: { type: "boolean", title: "As a gift", default: true },
      size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"], default: "l" },
      colour: { type: "string", oneOf: [{ const: "#f00", title: "Red" }] },
      extras: {
        type: "array",
        title: "Extras",
        items: { anyOf: [{ const: "bow", title: "A bow" }, { const: "card" }] }
      },
      submit: { type: "string" }
    },
    required: ["name", "size"]
  }
  const asked = (onAnswer: (answer: string) => Promise<unknown>, options: object = { schema }) => {
    const declined: Array<true> = []
    const decline = async () => declined.push(true)
    const page = render(
      <Question question="What to send?" options={{ ...options }} onAnswer={onAnswer} onDecline={decline} />
    )
    return { page, declined }
  }

  test("has a labelled field for each property, and answers with their JSON; an empty field is left out", async () => {
    const answers: Array<unknown> = []
    const { page } = asked(async (answer) => answers.push(JSON.parse(answer)))
    screen.getByRole("form", { name: "What to send?" })
    const name = screen.getByRole("textbox", { name: "Your name", description: "As on the card" })
    expect(name.getAttribute("pattern")).toBe(null)
    await act(async () => press("Answer"))
    expect(answers).toEqual([])
    fireEvent.change(name, { target: { value: "Ada" } })
    fireEvent.change(screen.getByRole("spinbutton", { name: /^count/ }), { target: { value: "3" } })
    fireEvent.click(screen.getByRole("checkbox", { name: "As a gift" }))
    const size = screen.getByRole("combobox", { name: "size" })
    expect(size).toHaveProperty("value", "l")
    fireEvent.change(size, { target: { value: "s" } })
    screen.getByRole("option", { name: "Red" })
    screen.getByRole("group", { name: "Extras" })
    fireEvent.click(screen.getByRole("checkbox", { name: "A bow" }))
    fireEvent.change(screen.getByRole("textbox", { name: /^submit/ }), { target: { value: "x" } })
    expect(screen.getByRole("textbox", { name: /^mail/ }).getAttribute("type")).toBe("email")
    await act(async () => press("Answer"))
    expect(answers).toEqual([{ name: "Ada", count: 3, gift: false, size: "s", extras: ["bow"], submit: "x" }])
    page.unmount()
  })

  test("keeps its fields when the answer is refused, and can be declined", async () => {
    const { page, declined } = asked(() => Promise.reject(new Error("no such name")))
    fireEvent.change(screen.getByRole("textbox", { name: "Your name" }), { target: { value: "Ada" } })
    await act(async () => press("Answer"))
    expect(screen.getByRole("alert").textContent).toBe("no such name")
    expect(screen.getByRole("textbox", { name: "Your name" })).toHaveProperty("value", "Ada")
    await act(async () => press("Decline"))
    expect(declined).toEqual([true])
    page.unmount()
  })

  test.each([
    { schema: { type: "object", properties: { to: { type: "object" } } } },
    { schema: { type: "object", properties: { to: null } } },
    { schema: { type: "array" } },
    { schema: "object" }
  ])("that is no form, as %j, has one field for text", async (options) => {
    const { page } = asked(async () => {}, options)
    expect(screen.getAllByRole("textbox", { name: "What to send?" })).toHaveLength(1)
    page.unmount()
  })
})

describe("a list", () => {
  const Rows = ({ items }: { readonly items: ReadonlyArray<string> }) => {
    const { rows, hold } = useStillRows(items, (item) => item)
    return (
      <ul {...hold}>
        {rows.map(({ key, isOver }) => (
          <li key={key}>{isOver ? `${key} over` : <button>{key}</button>}</li>
        ))}
      </ul>
    )
  }
  const shownRows = (...items: ReadonlyArray<string>) => {
    const page = render(<Rows items={items} />)
    return {
      ...page,
      show: (...next: ReadonlyArray<string>) => page.rerender(<Rows items={next} />),
      texts: () => page.getAllByRole("listitem").map(({ textContent }) => textContent),
      button: (name: string) => page.getByRole("button", { name })
    }
  }

  test("STILL1. keeps its rows while the pointer is in it: an ended one in its place, a new one below", () => {
    const page = shownRows("a", "b")
    fireEvent.pointerEnter(page.getByRole("list"))
    page.show("0", "b")
    expect(page.texts()).toEqual(["a over", "b", "0"])
    fireEvent.pointerLeave(page.getByRole("list"))
    expect(page.texts()).toEqual(["0", "b"])
    page.unmount()
  })

  test("STILL1. keeps its rows while the focus moves from one to another", () => {
    const page = shownRows("a", "b", "c")
    act(() => page.button("b").focus())
    page.show("0", "b", "c")
    fireEvent.blur(page.button("b"), { relatedTarget: page.button("c") })
    expect(page.texts()).toEqual(["a over", "b", "c", "0"])
    page.unmount()
  })

  test("STILL1. drops an ended row whose button had the focus, because the focus has left the list", () => {
    const page = shownRows("a", "b")
    act(() => page.button("a").focus())
    page.show("0", "b")
    expect(page.texts()).toEqual(["0", "b"])
    page.unmount()
  })
})

describe("Markdown", () => {
  const html = (text: string): string => {
    const page = render(<Markdown text={text} />)
    const { innerHTML } = page.container
    page.unmount()
    return innerHTML
  }

  test("MD1. makes no element of HTML, no link with a script, and loads no picture", () => {
    const made = html(
      '<img src=x onerror="a()"> <b>b</b>\n\n<script>a()</script>\n\n[x](javascript:a) [y](data:text/html,1) ![p](https://a.test/p.png)'
    )
    expect(made).not.toMatch(/<(?:img|script|b)\b|href="(?:javascript|data)/)
    expect(made).toContain('<a href="https://a.test/p.png" target="_blank" rel="noreferrer">p</a>')
    expect(made).toContain("&lt;script&gt;a()&lt;/script&gt;")
  })

  test("shows headings, lists of tasks, tables, quotes and code", () => {
    const made = html("# A\n\n- [x] done\n- b\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> q\n\n```ts\nlet a = 1 < 2\n```")
    for (const part of ["<h3>A</h3>", "checked", "<th>a</th>", "text-align: right", "<blockquote>", "let a = 1 &lt; 2"])
      expect(made).toContain(part)
  })

  test("shows the beginning of a text at any place where it is cut", () => {
    const text = "# A\n\n**b** `c` [d](https://e.test)\n\n```ts\nlet f\n```\n\n| a |\n|---|\n| 1 |"
    for (let end = 0; end <= text.length; end++) expect(typeof html(text.slice(0, end))).toBe("string")
  })
})

test("the theme and the observer have the same palette and the same sizes", () => {
  const theme = readFileSync(join(import.meta.dirname, "../../src/theme.css"), "utf8")
  const tokensIn = (text: string) =>
    new Map([...text.matchAll(/^\s*(--tro-[a-z-]+): ([^;]+);/gm)].map(([, name = "", value = ""]) => [name, value]))
  const [ours, theirs] = [tokensIn(theme), tokensIn(css)]
  theirs.delete("--indent")
  expect(ours.size).toBeGreaterThan(20)
  expect([...ours]).toEqual([...theirs].filter(([name]) => ours.has(name)))
  expect([...theirs.keys()].filter((name) => !ours.has(name))).toEqual([])
})

describe("a composer", () => {
  test("keeps what was typed before the page hydrated it, and sends it", async () => {
    const sent: Array<unknown> = []
    const composer = (
      <Composer
        chat={{
          send: async (text) => {
            sent.push(text)
          }
        }}
      />
    )
    const container = document.body.appendChild(document.createElement("div"))
    container.innerHTML = renderToString(composer)
    const field = container.querySelector("textarea")
    if (field === null) throw new Error("There is no field")
    field.value = "early"
    render(composer, { container, hydrate: true })
    expect(field.value).toBe("early")
    await act(async () => void fireEvent.keyDown(field, { key: "Enter" }))
    expect(sent).toEqual(["early"])
    expect(field.value).toBe("")
  })
})
