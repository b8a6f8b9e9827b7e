/** A tracer that keeps its spans, and returns them as a tree. */
import { Exit } from "effect"
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

export class Spans {
  readonly all: Array<Tracer.NativeSpan> = []
  readonly tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      this.all.push(span)
      return span
    }
  })

  named(name: string): Tracer.NativeSpan {
    const found = this.all.find((span) => span.name === name)
    if (found === undefined) throw new Error(`no span ${name} among ${this.all.map((span) => span.name).join(", ")}`)
    return found
  }

  attributes(name: string): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.named(name).attributes)
  }

  /** Each span with how it ended, indented below the one it belongs to. */
  tree(): ReadonlyArray<string> {
    const below = (parent: Tracer.NativeSpan | undefined, indent: string): ReadonlyArray<string> =>
      this.all
        .filter((span) => Option.getOrUndefined(span.parent)?.spanId === parent?.spanId)
        .flatMap((span) => [`${indent}${span.name}: ${endOf(span)}`, ...below(span, `${indent}  `)])
    return below(undefined, "")
  }

  /** How many milliseconds a span covers. */
  ms(name: string): number {
    const { status } = this.named(name)
    return status._tag === "Ended" ? Number(status.endTime - status.startTime) / 1e6 : Number.NaN
  }
}

const endOf = ({ status }: Tracer.NativeSpan): string => {
  if (status._tag === "Started") return "open"
  if (Exit.isSuccess(status.exit)) return "ok"
  return Cause.hasInterruptsOnly(status.exit.cause) ? "interrupted" : "failed"
}
