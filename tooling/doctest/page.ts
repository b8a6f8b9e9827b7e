/**
 * The DOM for an example that renders a page: the globals of a browser, in the test's own thread, until its test ends.
 *
 * @module
 */
import { onTestFinished } from "vitest"
import { builtinEnvironments } from "vitest/runtime"

const { teardown } = await builtinEnvironments.jsdom.setup(globalThis, {})
onTestFinished(() => teardown(globalThis))
