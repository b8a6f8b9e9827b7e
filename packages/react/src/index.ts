/** Written next. */
export {}
