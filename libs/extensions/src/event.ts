import type { z } from 'zod';

/** A custom event that `webhooks.dispatch` publishes, for the catalogue of events. */
export interface CustomEvent<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** One sentence that says when it happens. */
  readonly description: string;
  /** The schema for the payload. */
  readonly schema: S;
  /** A payload that the schema allows. */
  readonly example: z.input<S>;
}

/** Declares a custom event. Its example is checked against its schema when the extension is loaded. */
export const defineEvent = <S extends z.ZodType>(declaration: CustomEvent<S>): CustomEvent => declaration;
