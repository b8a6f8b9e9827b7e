/** A web stream of what a list holds. */
export const streamOf = <A>(list: ReadonlyArray<A>): ReadableStream<A> =>
  new ReadableStream({
    start: (controller) => {
      for (const item of list) controller.enqueue(item)
      controller.close()
    }
  })
