/** The styles of the observer. */
export { css } from "./stylesheet.ts"
