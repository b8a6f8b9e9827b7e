import { expect, test } from "vitest"
import { readCommandLine } from "../src/commandLine.ts"
import { CreateError } from "../src/CreateError.ts"
import { planWithoutQuestions } from "../src/questions.ts"

const refusal = (...args: ReadonlyArray<string>): string => {
  try {
    return JSON.stringify(readCommandLine(args))
  } catch (error) {
    return error instanceof CreateError ? `${error.reason}: ${error.message}` : String(error)
  }
}

test("every option is read", () => {
  const args = "shop --template next --provider openai --store sqlite --manager pnpm --no-install --yes".split(" ")
  expect(readCommandLine(args)).toEqual({
    folder: "shop",
    choices: { template: "next", provider: "openai", store: "sqlite", manager: "pnpm" },
    yes: true,
    install: false,
    help: false
  })
})

test("without questions, what is not given is the first of its list, the running package manager, and no installation", () => {
  expect(planWithoutQuestions(readCommandLine([]), "bun")).toEqual({
    folder: "my-troupe",
    choices: { template: "terminal", provider: "scripted", store: "memory", manager: "bun" },
    install: false
  })
})

test.each([
  [
    ["--template", "nest"],
    "unknown_choice: --template nest does not exist: write terminal, server, next, react, team, otp, or cluster."
  ],
  [["--manager", "yarn"], "unknown_choice: --manager yarn does not exist: write npm, pnpm, or bun."],
  [["--colour"], "unknown_option: Unknown option '--colour'. --help lists the options."],
  [["one", "two"], 'unknown_option: There is one folder, and not "two" too. With npm, write -- before the options.'],
  [
    ["--template", "otp", "--provider", "openai"],
    "not_offered: The template otp has no choice of --provider. The templates terminal, server, next, team, and cluster have one."
  ],
  [
    ["--template", "react", "--store", "sqlite"],
    "not_offered: The template react has no choice of --store. The templates terminal, server, next, and team have one."
  ]
])("%j is refused with a sentence", (args, sentence) => {
  expect(refusal(...args)).toBe(sentence)
})

test("an option without its value is refused", () => {
  expect(refusal("--template")).toMatch(/^unknown_option: Option '.*--template <value>' argument missing/)
})
