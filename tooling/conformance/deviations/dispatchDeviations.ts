/** The listed deviations of the suite dispatch, each with the decision that explains it. */

import {
  answeredLate,
  askRaises,
  asks,
  both,
  calls,
  expectsDeath,
  failsReading,
  halted,
  hooksQuestions,
  listens,
  onlyTheCrashed,
  sharesIds,
  timed
} from "./caseKinds.ts"
import { adds, type Deviation, field, is, lacks, text, texts, rules } from "../runner/deviating.ts"

const notStarted = /^(not run, because the turn was ended: |\{"error":"cancelled: not started: )/
const heldTime = "The time of a question is no call's time"
const survives = "A listener that throws, or is slow, changes nothing of the turn"

export const dispatch: ReadonlyArray<Deviation> = [
  ...rules(
    {
      suite: "dispatch",
      topic: "halts",
      decision: "Each call of a halted turn has a result; it may say that the call was not started",
      of: halted
    },
    {
      messages: adds(text(/^tool[: ]/)),
      messageRoles: adds(text(/^tool$/)),
      results: adds(field("content", notStarted))
    }
  ),
  ...rules(
    { suite: "dispatch", topic: "gates", decision: "Questions never overlap, and each names its call", of: asks },
    {
      maxOpenQuestions: (ours, theirs) => ours === 1 && Number(theirs) > 1,
      log: lacks(text(/^ask:/)),
      questionIsToldTheCallId: is(true, false)
    }
  ),
  ...rules(
    { suite: "dispatch", topic: "gates", decision: heldTime, of: both(timed, answeredLate) },
    { errorIds: lacks(text(/^\w+$/)), okIds: (ours, theirs) => lacks(text(/^\w+$/))(theirs, ours, "") }
  ),
  ...rules(
    { suite: "dispatch", topic: "gates", decision: "A hook is called before a person is asked", of: hooksQuestions },
    { fired: adds(text(/^PermissionRequest$/)) }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "gates",
      decision: "Arguments that an answer edits replace those of the call, and are checked"
    },
    { argsChanged: is(true, false) }
  ),
  ...rules(
    { suite: "dispatch", topic: "gates", decision: "A question names its call", of: calls("gate") },
    { "questionReceives.*": is("context and tool call id", "context whose tool call id is unset") }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "faults",
      decision: "A question that throws refuses its call, and the turn goes on",
      of: askRaises
    },
    {
      kind: is("result", "raised"),
      error: is(undefined, "RuntimeError"),
      providerCalls: is(2, 1),
      events: adds(text(/^(tool_result:\w+!|iteration:\d+|content:\w+|done)$/))
    }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "faults",
      decision: "A question that throws refuses its call",
      of: calls("checkWithAskReturning")
    },
    { "outcomes.*": is("deny:unknown", "the exception escapes") }
  ),
  ...rules(
    { suite: "dispatch", topic: "faults", decision: "A hook that throws halts the turn", of: calls("preTool") },
    { "outcomes.*": (ours, theirs) => theirs === "the throw escapes" && field("halt", /^hook_crashed: /)(ours) }
  ),
  ...rules(
    { suite: "dispatch", topic: "faults", decision: survives, of: listens(/^raises/) },
    {
      kind: (ours, theirs) => ours === "result" && text(/^(raised|loop-process-killed)$/)(theirs),
      error: is(undefined, "RuntimeError"),
      providerCalls: is(2, 1),
      "outcomes.*": texts(/^the run goes on$/, /^(the run's process dies|the exception reaches the caller)$/)
    }
  ),
  ...rules(
    { suite: "dispatch", topic: "faults", decision: survives, of: listens(/^\d+ ms/) },
    {
      "results.*.content": texts(/^(?!tool call)/, /^tool call '\w+' timed out or crashed before returning$/),
      "results.*.isError": is(false, true)
    }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "crashes",
      decision: "A read that fails counts as a mistake, as any other call does",
      of: failsReading
    },
    { finish: is("error_consecutive_mistakes", "stop"), iterations: (ours, theirs) => Number(ours) < Number(theirs) }
  ),
  ...rules(
    { suite: "dispatch", topic: "crashes", decision: "Whatever a tool throws is an error result" },
    { outcome: texts(/^error result 'tool crashed: …'$/, /process is killed/) }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "crashes",
      decision: "A read that crashes is an error result, and its siblings go on",
      of: expectsDeath
    },
    {
      kind: is("ok", "caller-process-killed"),
      outcome: is("ok", "the process that called run dies"),
      reason: is(undefined, "RuntimeError"),
      trace: adds(text(/^(start|end):/))
    }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "crashes",
      decision: "A read that crashes is an error result, and its siblings go on",
      of: both(expectsDeath, onlyTheCrashed)
    },
    { "killed.*": texts(/^\w+$/, /^\w+$/) }
  ),
  ...rules(
    {
      suite: "dispatch",
      topic: "results",
      decision: "Each call has its own result in its place, also when calls share an id",
      of: sharesIds
    },
    {
      "results.*": texts(/^ok:/, /^ok:/),
      "results.*.content": texts(/^ok:/, /^ok:/),
      outcome: is("the run goes on", "second call gets a generated id")
    }
  )
]
