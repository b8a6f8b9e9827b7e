/**
 * The type of the charts that the package publishes.
 *
 * CHARTTYPE1. A chart's declaration has the parameters that every supported version of XState has. Later versions give
 *             `StateMachine` more of them, with defaults: a declaration that spells these out is an error with earlier ones.
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

/** A machine of XState: it runs with `createActor`, `useMachine` and `StateMachine.start`. */
export interface Chart<
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
> extends StateMachine<
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
> {}

/** The same machine, with a type that every supported version of XState can read (CHARTTYPE1). */
export const chart = <
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
): Chart<Context, Event, Children, Actor, Action, Guard, Delay, Value, Tag, Input, Output, Emitted, Meta, Schema> =>
  machine
