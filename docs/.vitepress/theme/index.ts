import type { Theme } from "vitepress"
import DefaultTheme from "vitepress/theme-without-fonts"
import { RunExample } from "./RunExample.ts"
import "./style.css"

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component("RunExample", RunExample)
} satisfies Theme
