/** Tools that run where they can be killed: in a worker thread, or in a child process of Node. */
export {
  isolated,
  type IsolatedContext,
  type IsolatedHandler,
  type IsolatedOptions,
  type Isolation
} from "./Isolated.ts"
