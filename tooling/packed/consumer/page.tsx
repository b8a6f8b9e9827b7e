/**
 * A consumer's page, rendered on the server: the hooks, a machine with `useMachine`, and the observer.
 *
 * @module
 */
import { Engine, Fake, Troupe } from "@troupe/chat"
import { provide } from "@troupe/chat/machines"
import { Message } from "@troupe/chat/messages"
import { ChatView } from "@troupe/chat/view"
import { local, Observer, TroupeProvider, useChat } from "@troupe/react"
import { useMachine } from "@xstate/react"
import { match } from "node:assert/strict"
import { renderToString } from "react-dom/server"

const adapter = Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] })
const machine = provide(Engine.make({ adapter }))

const Conversation = ({ initial }: { readonly initial: ChatView.ChatView }) => {
  const { messages, status } = useChat("c1", { initial })
  return (
    <main title={status}>
      {messages.map((message, line) => (
        <p key={line}>{Message.text(message)}</p>
      ))}
    </main>
  )
}

const Machine = () => {
  const [{ value }] = useMachine(machine, { input: { id: "c2" } })
  return <em>{JSON.stringify(value)}</em>
}

const troupe = await Troupe.start({ adapter })
const chat = await troupe.chat("c1")
await chat.send("Hello").result()
const link = local(troupe)
const html = renderToString(
  <TroupeProvider link={link}>
    <Conversation initial={ChatView.of("c1", chat.getSnapshot())} />
    <Machine />
    <Observer link={link.observer} />
  </TroupeProvider>
)
await troupe.stop()

match(html, /<main title="completed"><p>Hello<\/p><p>Hi\.<\/p><\/main>/)
match(html, /<em>&quot;idle&quot;<\/em>/)
