/** A button that runs the example above it in the page, and shows its values and its output. */
import { defineComponent, h, onMounted, ref, shallowRef } from "vue"

/** One line of an example's output: a value that it states, or a line that it logs. */
interface Line {
  readonly label?: string
  readonly text: string
  readonly isWrong: boolean
}

/** A page that was rendered before is `loading` until its script hears clicks. */
type State = "loading" | "idle" | "running" | "done" | "failed"

const run = async (id: string, add: (line: Line) => void): Promise<void> => {
  const [{ default: examples }, { Equal, Formatter }] = await Promise.all([
    import("virtual:examples"),
    import("effect")
  ])
  const load = examples[id]
  if (load === undefined) throw new Error("This example is not part of the site.")
  const text = (value: unknown): string => Formatter.format(value, { space: 2 })
  const same = (one: unknown, other: unknown): boolean => Equal.equals(one, other) || text(one) === text(other)
  const check = (value: unknown, label: string) => ({
    toEqual: (expected: unknown) => add({ label, text: text(value), isWrong: !same(value, expected) })
  })
  const log = (...values: ReadonlyArray<unknown>) =>
    add({
      text: values.map((value) => (typeof value === "string" ? value : text(value))).join(" "),
      isWrong: false
    })
  const { default: example } = await load()
  await example(check, { ...console, log, info: log, warn: log, error: log })
}

export const RunExample = defineComponent({
  props: { id: { type: String, required: true } },
  setup({ id }) {
    const state = ref<State>("loading")
    onMounted(() => {
      state.value = "idle"
    })
    const lines = shallowRef<ReadonlyArray<Line>>([])
    const add = (line: Line) => {
      lines.value = [...lines.value, line]
    }
    const start = async () => {
      lines.value = []
      state.value = "running"
      try {
        await run(id, add)
        state.value = lines.value.some(({ isWrong }) => isWrong) ? "failed" : "done"
      } catch (error) {
        add({ text: error instanceof Error ? `${error.name}: ${error.message}` : String(error), isWrong: true })
        state.value = "failed"
      }
    }
    const first = "Run in this page"
    const shown = { loading: first, idle: first, running: "Running …", done: "Run again", failed: "Run again" }
    return () =>
      h("div", { class: "run-example", "data-state": state.value }, [
        h(
          "button",
          { type: "button", disabled: state.value === "loading" || state.value === "running", onClick: start },
          shown[state.value]
        ),
        h(
          "ol",
          { "aria-live": "polite", "aria-label": "Output", tabindex: 0, hidden: lines.value.length === 0 },
          lines.value.map(({ label, text, isWrong }) =>
            h("li", { class: { wrong: isWrong } }, [
              ...(label === undefined ? [] : [h("code", { class: "label" }, label)]),
              h("code", { class: "value" }, text)
            ])
          )
        )
      ])
  }
})
