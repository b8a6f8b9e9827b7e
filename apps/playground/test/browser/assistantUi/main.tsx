/** A page with the unmodified components of assistant-ui and its AI SDK runtime. */
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  AuiIf,
  ComposerPrimitive,
  makeAssistantTool,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
  useAssistantInstructions
} from "@assistant-ui/react"
import { AssistantChatTransport, useChatRuntime, useThreadTokenUsage } from "@assistant-ui/react-ai-sdk"
import { lastAssistantMessageIsCompleteWithToolCalls } from "ai"
import { StrictMode, type ReactNode } from "react"
import { createRoot } from "react-dom/client"

const transport = new AssistantChatTransport({ api: "/api/chat" })

/** A tool that runs in the page. */
const WhereTool = makeAssistantTool({
  toolName: "where",
  type: "frontend",
  description: "Where the user is",
  parameters: { type: "object", properties: {} },
  execute: () => Promise.resolve({ city: "Oslo" })
})

/** A tool that fails in the page. */
const CompassTool = makeAssistantTool({
  toolName: "compass",
  type: "frontend",
  description: "Where north is",
  parameters: { type: "object", properties: {} },
  execute: () => Promise.reject(new Error("No magnet"))
})

const Called = ({ toolName, result }: ToolCallMessagePartProps): ReactNode => (
  <p className="tool">
    {toolName}: {JSON.stringify(result)}
  </p>
)

const UserMessage = (): ReactNode => (
  <MessagePrimitive.Root className="user">
    <MessagePrimitive.Parts />
    <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
  </MessagePrimitive.Root>
)

const EditComposer = (): ReactNode => (
  <ComposerPrimitive.Root className="edit">
    <ComposerPrimitive.Input />
    <ComposerPrimitive.Send>Save</ComposerPrimitive.Send>
  </ComposerPrimitive.Root>
)

const AssistantMessage = (): ReactNode => (
  <MessagePrimitive.Root className="assistant">
    <MessagePrimitive.Parts components={{ tools: { Fallback: Called } }} />
    <ActionBarPrimitive.Reload>Reload</ActionBarPrimitive.Reload>
  </MessagePrimitive.Root>
)

const Thread = (): ReactNode => {
  useAssistantInstructions("Speak Norwegian.")
  const usage = useThreadTokenUsage()
  return (
    <ThreadPrimitive.Root>
      <ThreadPrimitive.Messages components={{ UserMessage, EditComposer, AssistantMessage }} />
      <ComposerPrimitive.Root className="composer">
        <ComposerPrimitive.Input />
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        <AuiIf condition={({ thread }) => thread.isRunning}>
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
        </AuiIf>
      </ComposerPrimitive.Root>
      <p id="usage">{usage?.totalTokens}</p>
    </ThreadPrimitive.Root>
  )
}

const Page = (): ReactNode => {
  const runtime = useChatRuntime({ transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <WhereTool />
      <CompassTool />
      <Thread />
    </AssistantRuntimeProvider>
  )
}

createRoot(document.querySelector("#root") ?? document.body).render(
  <StrictMode>
    <Page />
  </StrictMode>
)
