import { type ReactNode, useState } from "react"

type Theme = "light" | "dark"

const preferred = (): Theme => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")

/** Light or dark: the system's preference, until the button is pressed. */
export const ThemeButton = (): ReactNode => {
  const [theme, setTheme] = useState<Theme>()
  const next: Theme = (theme ?? preferred()) === "dark" ? "light" : "dark"
  return (
    <button
      type="button"
      className="quiet"
      onClick={() => {
        document.documentElement.dataset["theme"] = next
        setTheme(next)
      }}
    >
      {next === "dark" ? "Dark" : "Light"}
    </button>
  )
}
