import { expect, test } from "vitest"
import { lists } from "../../src/choices.ts"
import { defaults, program, run, scaffold, temporaryFolder } from "../double/scaffold.ts"

const all = lists.template.map((template) => ({ ...defaults, template }))

/** A template's tests compile the packages from their sources. */
const longer = { timeout: 240_000 }

test("CREATE2. the tests of each new project pass", longer, async () => {
  using folder = temporaryFolder()
  scaffold(folder.path, all)
  const { code, output } = await run(
    program("vitest"),
    ["run", "--testTimeout", "30000", "--no-isolate", "--root", "."],
    folder.path
  )
  expect(output.match(/(\w+)\/test\/\w+\.test\.tsx? /g)?.map((line) => line.split("/", 1).join(""))).toEqual(
    expect.arrayContaining([...lists.template])
  )
  expect({ code, output }).toMatchObject({ code: 0 })
})

test("CREATE2. the linter finds no fault in a new project", longer, async () => {
  using folder = temporaryFolder()
  const outputs = await Promise.all(
    scaffold(folder.path, all).map((project) => run(program("oxlint"), ["--deny-warnings"], project))
  )
  const isClean = expect.stringMatching(/^Found 0 warnings and 0 errors\.\n.* on [1-9]\d* files/) as unknown
  expect(outputs).toEqual(all.map(() => ({ code: 0, output: isClean })))
})
