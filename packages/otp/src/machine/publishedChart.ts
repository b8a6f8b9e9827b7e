/**
 * The type of charts that a package publishes.
 *
 * CHARTTYPE1. A chart's declaration has only the type parameters of every supported version of XState. Later versions add
 *             parameters with defaults to `StateMachine`; a declaration that writes them is an error with earlier
 *             versions. It has no types of single child actors: a declaration file cannot say that only some of them have fixed ids.
 */
import type {
  AnyActorRef,
  EventObject,
  MachineContext,
  MetaObject,
  ParameterizedObject,
  ProvidedActor,
  StateMachine,
  StateSchema,
  StateValue
} from "xstate"

/** A published XState machine. It runs with `createActor`, `useMachine` and `StateMachine.start`. */
export interface PublishedChart<
  Context extends MachineContext,
  Event extends EventObject,
  Actor extends ProvidedActor,
  Action extends ParameterizedObject,
  Guard extends ParameterizedObject,
  Delay extends string,
  Value extends StateValue,
  Tag extends string,
  Input,
  Output,
  Emitted extends EventObject,
  Meta extends MetaObject,
  Schema extends StateSchema
> extends StateMachine<
  Context,
  Event,
  Record<string, AnyActorRef | undefined>,
  Actor,
  Action,
  Guard,
  Delay,
  Value,
  Tag,
  Input,
  Output,
  Emitted,
  Meta,
  Schema
> {}

/**
 * The same machine, with a type that every supported version of XState can read. For machines that a package exports.
 *
 * **Details**: a later version of XState adds type parameters with defaults to `StateMachine`. A declaration file that writes
 * them is an error with earlier versions.
 */
export const published = <
  Context extends MachineContext,
  Event extends EventObject,
  Children extends Record<string, AnyActorRef | undefined>,
  Actor extends ProvidedActor,
  Action extends ParameterizedObject,
  Guard extends ParameterizedObject,
  Delay extends string,
  Value extends StateValue,
  Tag extends string,
  Input,
  Output,
  Emitted extends EventObject,
  Meta extends MetaObject,
  Schema extends StateSchema
>(
  machine: StateMachine<
    Context,
    Event,
    Children,
    Actor,
    Action,
    Guard,
    Delay,
    Value,
    Tag,
    Input,
    Output,
    Emitted,
    Meta,
    Schema
  >
): PublishedChart<Context, Event, Actor, Action, Guard, Delay, Value, Tag, Input, Output, Emitted, Meta, Schema> =>
  machine
