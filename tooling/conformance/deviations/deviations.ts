/**
 * All intended differences from the cases, each with its decision.
 *
 * Rules describe differences, not single cases, so they also apply to future cases. A case that passes is counted as
 * passed.
 *
 * @module
 */
import {
  afterUnpaired,
  both,
  calls,
  defaultMessage,
  fromMetadata,
  fromScript,
  gives,
  handedOn,
  isParameter,
  isUnpaired,
  malformedArguments,
  not,
  notesAfter,
  scripted,
  shortPolicy,
  unknownTag,
  unpaired,
  unscripted
} from "./caseKinds.ts"
import { isFields } from "../runner/fields.ts"
import {
  adds,
  type Deviation,
  exactly,
  field,
  is,
  leavesOut,
  says,
  succeeds,
  text,
  texts,
  rules
} from "../runner/deviating.ts"
import { dispatch } from "./dispatchDeviations.ts"

const otp: ReadonlyArray<Deviation> = rules(
  {
    suite: "otp",
    topic: "P1",
    decision: "Finalizers of a process always run, also when a signal or a kill ends it",
    of: notesAfter
  },
  { "trace.*": (ours, theirs) => theirs === undefined && Array.isArray(ours) && ours[1] === "note" }
)

const chat: ReadonlyArray<Deviation> = [
  ...rules(
    {
      suite: "chat",
      topic: "D7",
      decision: "A step without calls is done under any finish reason, or none",
      of: both(calls("collect"), not(gives(/"finish_reason":"(tool_calls|stop|length|content_filter|error)"/)))
    },
    { "step_result.done": is(true, false), "state.steps.*.done": is(true, false) }
  ),
  ...rules(
    { suite: "chat", topic: "D10", decision: "A turn that its reader left is cancelled, and keeps its text" },
    { "after.*.session.status": is("cancelled", "completed") }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D11",
      decision: "More halt reasons belong to the loop, so no handler may use them",
      of: calls("reserved_halt_reasons")
    },
    {
      value: adds(
        text(
          /^(error|manual_tool_calls|awaiting_approval|budget_(tokens|cost|time)|consecutive_mistakes|no_progress|hook_crashed|expired|)$/
        )
      ),
      "value.length": (ours, theirs) => theirs === 6 && Number(ours) > 6
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D11",
      decision: "More halt reasons belong to the loop, so no handler may use them",
      of: gives(/"halt":\["(error|manual_tool_calls)"/)
    },
    {
      "ok.halt": (ours, theirs) => ours === undefined && field("halted_reason", /^(error|manual_tool_calls)$/)(theirs),
      "ok.halted_reason": texts(/^(completed|max_turns)$/, /^(error|manual_tool_calls)$/)
    }
  ),
  ...rules(
    { suite: "chat", topic: "D14", decision: "Arguments that are no JSON object are null", of: malformedArguments },
    { "**.arguments": is(null, {}) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D15",
      decision: "Folding a stream never throws, whatever usage it reports",
      of: both(calls("collect"), gives(/\$usage/))
    },
    { raises: succeeds(exactly({ type: "KeyError" })) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D17",
      decision: "A retry policy lists reasons of errors, and a failed connection is one of them"
    },
    {
      "value.retry_on": is(
        ["rate_limited", "provider_unavailable", "timeout", "network_error"],
        [429, 500, 502, 503, 504, "timeout"]
      )
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D18",
      decision: "A tool call also fails because of its arguments, a gate or a cancel",
      of: both(calls("error.reasons"), gives(/"type":"ToolError"/))
    },
    { value: adds(text(/^(invalid_arguments|denied|cancelled)$/)) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D19",
      decision: "A session refuses a thread in which calls and results do not pair up",
      of: afterUnpaired
    },
    {
      "after.*.failure": says(unpaired),
      "after.*.session.status": texts(/^(idle|error)$/, /^(completed|awaiting_user|awaiting_tools|cancelled|error)$/)
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D19",
      decision: "A session refuses a thread in which calls and results do not pair up",
      of: isUnpaired
    },
    { "after.*.result": leavesOut(isFields) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D21",
      decision: "A refused second pass leaves the result of the first one",
      of: both(gives(/"structured_finalize":true/), fromScript)
    },
    { error: succeeds(field("type", /^AdapterError$/)) }
  ),
  ...rules(
    { suite: "chat", topic: "D25", decision: "A session in error has a typed error instead of a map" },
    {
      "after.*.session.metadata.error.$error": (ours, theirs) =>
        theirs === undefined && field("type", /^(Adapter|Stream|Tool|Engine|Validation|Session)Error$/)(ours)
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D25",
      decision: "A session in error has a typed error instead of a map",
      of: fromMetadata
    },
    { "after.*.session.metadata.error.*": leavesOut((value) => value !== undefined) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D27",
      decision: "Parameters of a provider have options of their own; unknown options are refused",
      of: both(calls("engine.resolve_params"), not(isParameter), handedOn)
    },
    { "value.*": leavesOut((value) => value !== undefined) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D29",
      decision: "An unknown type is refused when it is read",
      of: both(calls("from_json"), unknownTag)
    },
    {
      failure: says(
        /^failed with ValidationError: Validation failed, invalid request: (\S+: unknown_type_tag|\S+\.role: atom_decode_failed)$/
      )
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D29",
      decision: "A tool is written without its handler, and found again by its name",
      of: gives(/"\$type":"Tool".*"handler":/)
    },
    { raises: succeeds(field("type", /^(Protocol\.UndefinedError|Jason\.EncodeError)$/)) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D36",
      decision: "A script without a finish has no finish reason",
      of: unscripted("finish")
    },
    {
      "ok.finish_reason": is(null, "stop"),
      "calls.*.ok.finish_reason": is(null, "stop"),
      "ok.metadata.empty_script": is(undefined, true),
      "calls.*.ok.metadata.empty_script": is(undefined, true)
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "D36",
      decision: "An error of a script is part of its response",
      of: both(scripted("error"), fromScript)
    },
    {
      error: succeeds(field("type", /^AdapterError$/)),
      "calls.*.error": succeeds(field("type", /^AdapterError$/))
    }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "errors",
      decision: "The message of an error has our words, and says what to do next",
      of: both(calls("error.new"), defaultMessage)
    },
    { "value.message": texts(/^[A-Z]\w* \w/, /^[a-z]+ (error|failed): /) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "arity",
      decision: "A function of fewer parameters is a policy too, because JavaScript may leave parameters out",
      of: shortPolicy
    },
    { raises: succeeds(field("type", /^ArgumentError$/)) }
  ),
  ...rules(
    {
      suite: "chat",
      topic: "parts",
      decision: "A plain object with the fields of a content part is one",
      of: both(calls("validate.message"), gives(/"type":"text"/))
    },
    {
      error: succeeds(
        exactly({
          type: "ValidationError",
          reason: "invalid_message",
          errors: { $includes: [["content", "invalid_part_type"]] }
        })
      )
    }
  )
]

/** All deviations. */
export const deviations: ReadonlyArray<Deviation> = [...otp, ...chat, ...dispatch]
