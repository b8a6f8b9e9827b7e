import { expect, test } from "vitest"
import { files, readText } from "../../house/workspace.ts"

/**
 * The maps, sets and symbols of a module that are written or name a property, by kind. None has state of a conversation.
 *
 * - `cache`: its values can be computed again
 * - `live`: data of a running system, process, connection or page, which ends with it
 * - `mark`: distinguishes the values of a library from plain data of the same form
 * - `name`: a property of a host or a library, or a value that equals no other
 */
const kinds = {
  cache: `chat/model/references references, chat/inbox/Inbox listed, chat/inbox/inboxBound sizes, chat/json/partialReply readers,
    chat/json/structuralSharing growths, chat/json/structuralSharing checked, chat/observe/agentMessages known, chat/options/resolveOptions known, chat/step/stepCalls messages, chat/values/held written, chat/view/ChatView shownMessages, chat/view/ChatView shownThreads,
    otp/machine/chart/chartTable tables, otp/machine/chart/chartTable strictTables, react/hooks/Conversation verbsKnown,
    react/observer/chart/stateChart drawings, server/access/blobUrls located, server/access/blobUrls parts`,
  live: `chat/model/references newBytes, chat/call/zombieTable tables, chat/inbox/inputReceipt series, chat/troupe/chatDirectory ofTroupe,
    otp/application/applicationTable tables, otp/core/keyValue ids, otp/machine/actorMembers logics,
    otp/machine/actorTable actors, otp/machine/actorTable systems, otp/machine/chart/chartActions builtIns,
    otp/machine/chart/hostedActors actors, otp/machine/chart/queuedMachine queued, otp/machine/chart/hostedActors effects,
    otp/machine/chart/hostedActors environments, otp/machine/chart/hostedActors hosts, otp/machine/effectActor running,
    otp/machine/host/chartSnapshot facades, otp/machine/host/chartSnapshot cells, otp/machine/processActor linked, otp/machine/processActor processes,
    react/hooks/paced paces, otp/observe/suspension suspensions, otp/process/processScope scopes, otp/process/processScope aborts,
    otp/process/redaction sensitive, otp/system/System stopping, otp/telemetry/deadLetterLog logs, react/hooks/Snapshot sources,
    server/http/frameStream streams, server/http/routeCall countedInputs,
    server/routes/observerRoutes observations, server/wire/agUi/sharedState states, server/wire/writtenData all`,
  mark: `chat/batch/dispatchFailure own, chat/options/deferredTools finders, chat/values/HandlerResult made, chat/values/held value, otp/core/Pid pidMark,
    otp/machine/actorTable mark, otp/supervisor/childRestarts partition`,
  name: `chat/async/guardedSignal key, chat/batch/dispatchRun none, chat/json/nodeInspect inspected, chat/observe/openTelemetry spanKey,
    otp/core/nodeInspect inspected, otp/machine/chart/hostedActors unbound, server/server/singleton values,
    server/wire/aiSdk/uiBlocks anyBlock, server/wire/openAi/responseItems anyBlock`
}

const declaration =
  /^(?:export )?(?:const|let) (\w+)(?:: [^=]+)? =\s*(?:new (Weak)?(?:Map|Set)\b(?!.*\[$)|Symbol(\.for)?\()/gmu

test("each map, set and symbol of a module is a cache, a live thing, a mark or a name, and listed", () => {
  const found = files("packages/*/src/**/*.{ts,tsx}").flatMap((path) => {
    const text = readText(path)
    return [...text.matchAll(declaration)].flatMap(([line, name = "", weak]) => {
      const isWritten =
        weak !== undefined || line.includes("Symbol") || RegExp(`\\b${name}\\.(?:set|add)\\(`).test(text)
      return isWritten ? [`${path.replace(/^packages\/|src\/|\.tsx?$/gu, "")} ${name}`] : []
    })
  })
  expect(found.toSorted()).toEqual(
    Object.values(kinds)
      .flatMap((list) => list.split(/,\s+/u))
      .toSorted()
  )
})
