import { expect, test } from "vitest"
import { lines } from "../../bench/otp/lines.ts"
import { readText } from "../../house/workspace.ts"

test("the bench's Elixir program has exactly the lines whose cost on the BEAM was recorded", () => {
  const program = readText("tooling/bench/otp/beam.exs")
  const has = ({ key }: { readonly key: string }): boolean => program.includes(`"${key}"`)
  expect(lines.filter(has)).toEqual(lines.filter(({ beam }) => beam !== undefined))
})
