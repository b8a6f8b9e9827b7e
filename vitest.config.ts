import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { doctestPlugin } from "./tooling/doctest/doctestPlugin.ts"

// The workers inherit the seed of the run, which must stand before `reporter.ts` is loaded.
process.env["TROUPE_SEED"] ??= String(process.pid % 5)
const { reporter } = await import("./tooling/verify/reporter.ts")

const measured = ["{packages/*,apps/*,tooling}/test/growth/**/*.test.ts", "packages/*/test/**/growth.test.ts"]

export default defineConfig({
  test: {
    dangerouslyIgnoreUnhandledErrors: false,
    allowOnly: false,
    retry: 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests wait more than they compute, on two processors too.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default", reporter],
    projects: [
      {
        // The files of a worker share its modules: loading them anew for each file costs as much as the tests themselves.
        test: {
          name: "tests",
          include: ["{packages,apps}/*/test/**/*.test.{ts,tsx}", "{examples,tooling}/test/**/*.test.ts"],
          exclude: ["apps/playground/test/browser/**", ...measured],
          isolate: false,
          execArgv: ["--expose-gc"],
          // The programs that tests start compile the same modules once.
          env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node") }
        }
      },
      {
        // Tests that measure memory or time have the process to themselves. `pnpm test` leaves them out.
        test: { name: "growth", include: measured, execArgv: ["--expose-gc"] }
      },
      {
        test: {
          name: "browser",
          include: ["apps/playground/test/browser/**/*.test.ts"],
          globalSetup: ["apps/playground/test/browser/setup.ts"]
        }
      },
      {
        plugins: [doctestPlugin(import.meta.dirname)],
        test: {
          name: "examples",
          isolate: false,
          include: [],
          includeSource: ["README.md", "packages/*/README.md", "docs/**/*.md", "packages/*/src/**/*.ts"]
        }
      }
    ]
  }
})
