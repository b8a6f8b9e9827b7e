/** Where whole turns differ from the cases on purpose. */
import { fieldsOf, listOf, textOf } from "../chat/caseFile.ts"
import type { DispatchCase } from "./caseFile.ts"
import type { Deviation } from "./operation.ts"

const setupOf = ({ given, recorded }: DispatchCase) => ({ ...given, ...fieldsOf(recorded["setup"]) })

const isHalted = ({ expected }: DispatchCase): boolean =>
  (expected["finishReason"] ?? expected["finish"]) === "error_halted"

const asks = (one: DispatchCase): boolean => setupOf(one)["ask"] !== undefined

/** Whether every call of a case is a read that fails. */
const failsReading = ({ given }: DispatchCase): boolean =>
  listOf(given["tools"])
    .map(fieldsOf)
    .some(({ parallelSafe, error }) => parallelSafe === true && error !== undefined)

const callsOnce = ({ given }: DispatchCase): ReadonlyArray<unknown> =>
  listOf(fieldsOf(listOf(given["model"])[0])["calls"]).map((call) => fieldsOf(call)["id"])

export const loopDeviations: ReadonlyArray<Deviation> = [
  {
    decision: "halts",
    because: "a halt leaves no call unanswered: each has its result, or says that it was not started",
    explains: ({ path }, one) => isHalted(one) && ["messages", "messageRoles", "results"].includes(path)
  },
  {
    decision: "gates",
    because:
      "all calls are judged before any starts, one question after another, each told its call, and its time is no call's",
    explains: ({ path }, one) =>
      asks(one) && ["maxOpenQuestions", "log", "questionIsToldTheCallId", "errorIds", "okIds"].includes(path)
  },
  {
    decision: "gates",
    because: "a hook is told that somebody is about to be asked",
    explains: ({ path }, one) => path.startsWith("fired") && "PermissionRequest" in fieldsOf(one.given["hooks"])
  },
  {
    decision: "faults",
    because: "a callback that throws refuses the call, and the run goes on",
    explains: (_, one) => textOf(setupOf(one)["ask"]) === "raises"
  },
  {
    decision: "faults",
    because: "a listener that throws, or is slow, is its own business",
    explains: (_, one) => setupOf(one)["listener"] !== undefined
  },
  {
    decision: "crashes",
    because: "a read that fails is a mistake like any other",
    explains: ({ path }, one) => failsReading(one) && ["finish", "iterations"].includes(path)
  },
  {
    decision: "crashes",
    because: "whatever a tool throws is an error result",
    explains: ({ path }, one) => path === "outcome" && textOf(one.expected["outcome"]).includes("process is killed")
  },
  {
    decision: "results",
    because: "calls that share an id both run under it, each with its result in its place",
    explains: ({ path }, one) => path === "outcome" && new Set(callsOnce(one)).size < callsOnce(one).length
  }
]
