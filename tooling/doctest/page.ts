/**
 * The DOM for examples that render a page: the globals of a browser, in the test's own thread.
 *
 * @module
 */
import { builtinEnvironments } from "vitest/runtime"

await builtinEnvironments.jsdom.setup(globalThis, {})
