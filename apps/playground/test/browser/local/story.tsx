import { Engine, Fake, user } from "@troupe/chat"
import { provide } from "@troupe/chat/machines"
import { Message } from "@troupe/chat/messages"
import { useMachine } from "@xstate/react"

const story: Fake.Script = [{ text: "Once upon " }, { text: "a time" }, { hang: true }]
const machine = provide(Engine.make({ adapter: Fake.make({ script: story }) }))

export const Story = () => {
  const [chat, send] = useMachine(machine, { input: { id: "story" } })
  const { record, partial } = chat.context
  const tell = () => send({ type: "turn.start", turn: { messages: [user("Tell me a story.")] } })
  const cancel = () => send({ type: "turn.cancel" })
  return (
    <main>
      {record.thread.messages.map((message, line) => (
        <p key={line}>{Message.text(message)}</p>
      ))}
      <p id="partial">{partial.text}</p>
      {chat.matches("running") ? <button onClick={cancel}>Cancel</button> : <button onClick={tell}>Tell</button>}
    </main>
  )
}
