/** Pages without a server; `local` of the window is what a test asks of them. */
import { Engine, user } from "@troupe/chat"
import { provide } from "@troupe/chat/machines"
import { Message } from "@troupe/chat/messages"
import { ChatView, type ChatView as View } from "@troupe/chat/view"
import { TroupeProvider, useChat } from "@troupe/react"
import { Observer } from "@troupe/react/Observer"
import { useMachine } from "@xstate/react"
import { StrictMode, type ReactNode } from "react"
import { flushSync } from "react-dom"
import { createRoot, hydrateRoot } from "react-dom/client"
import { renderToString } from "react-dom/server"
import { Story } from "./story.tsx"
import { adapter, startSystem } from "./system.ts"

const Chat = ({ id, initial }: { readonly id: string; readonly initial?: View.ChatView }): ReactNode => {
  const chat = useChat(id, { initial })
  return (
    <main data-status={chat.status} data-id={chat.id}>
      {chat.messages.map((message, line) => (
        <p key={line} className={message.role}>
          {Message.text(message)}
        </p>
      ))}
      <p id="partial">{chat.partial.text}</p>
      <ul>
        {chat.toolCalls.map((call) => (
          <li key={call.id}>
            {call.name} {call.status}
          </li>
        ))}
      </ul>
      {["weather", "stuck", "long"].map((said) => (
        <button key={said} type="button" onClick={() => void chat.send(said)}>
          {said}
        </button>
      ))}
      <button type="button" onClick={() => void chat.cancel()}>
        cancel
      </button>
      <button type="button" onClick={() => void chat.retry()}>
        resume
      </button>
    </main>
  )
}

const machine = provide(Engine.make({ adapter }))

/** The machine itself, without a Troupe. */
const Machine = (): ReactNode => {
  const [{ context, value }, send] = useMachine(machine, { input: { id: "alone" } })
  return (
    <main data-state={JSON.stringify(value)}>
      {context.record.thread.messages.map((message, line) => (
        <p key={line}>{Message.text(message)}</p>
      ))}
      <button type="button" onClick={() => send({ type: "turn.start", turn: { messages: [user("hello")] } })}>
        say
      </button>
    </main>
  )
}

const { troupe, link } = await startSystem()

const within = (children: ReactNode): ReactNode => (
  <StrictMode>
    <TroupeProvider link={link}>{children}</TroupeProvider>
  </StrictMode>
)

const box = document.querySelector("#root") ?? document.body
let root = createRoot(box)

const page = {
  show: (id: string) =>
    root.render(
      within(
        <>
          <Chat id={id} />
          <Observer link={link.observer} chat={link.chat(id)} />
        </>
      )
    ),
  machine: () =>
    root.render(
      <StrictMode>
        <Machine />
      </StrictMode>
    ),
  story: () =>
    root.render(
      <StrictMode>
        <Story />
      </StrictMode>
    ),
  say: async (id: string, text: string) => {
    for await (const _ of (await troupe.chat(id)).send(text));
  },
  /** Shows one chat after another, each for less than a frame. */
  rush: (ids: ReadonlyArray<string>) => {
    for (const id of ids) flushSync(() => root.render(within(<Chat id={id} />)))
  },
  /** Mounts and unmounts as often, a frame for each. */
  mount: async (id: string, times: number) => {
    for (let time = 0; time < times; time++) {
      flushSync(() => page.show(id))
      await new Promise(requestAnimationFrame)
      flushSync(() => root.render(null))
    }
  },
  /** What a server would have made of a chat, taken over by the page; gives what React complained of. */
  hydrate: async (id: string) => {
    const view = ChatView.of(id, (await troupe.chat(id)).getSnapshot())
    const initial = JSON.parse(JSON.stringify(view)) as View.ChatView
    const complaints: Array<string> = []
    root.unmount()
    box.innerHTML = renderToString(within(<Chat id={id} initial={initial} />))
    const made = box.querySelector("main")
    const html = box.innerHTML
    root = hydrateRoot(box, within(<Chat id={id} initial={initial} />), {
      onRecoverableError: (error) => complaints.push(String(error))
    })
    await new Promise((resolve) => requestIdleCallback(resolve))
    return { complaints, html, isSame: made === box.querySelector("main") }
  }
}

/** What a test asks of the page. */
export type LocalPage = typeof page

Object.assign(window, { local: page })
document.body.dataset["ready"] = "yes"
