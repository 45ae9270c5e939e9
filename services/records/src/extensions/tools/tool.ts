import type { ExtensionWorker } from '@recordbus/extension-host';
import { malformed } from '@recordbus/shared/errors';
import type { z } from 'zod';
import type { CallScope } from '../call-scope.ts';

/** A call of an extension that asks for something. */
export interface AskingCall {
  readonly extension: string;
  readonly scope: CallScope;
  readonly worker: ExtensionWorker;
}

/** A function that code of extensions can call. */
export type Tool = (call: AskingCall, args: readonly unknown[]) => Promise<unknown>;

/** Makes a tool of a function and the schema of its arguments, which come from code that is not ours. */
export const tool =
  <S extends z.ZodType<unknown[]>>(schema: S, work: (call: AskingCall, args: z.output<S>) => Promise<unknown>): Tool =>
  async (call, args) => {
    const result = schema.safeParse(args);
    if (result.success) return work(call, result.data);
    const [issue] = result.error.issues;
    throw malformed(`argument ${issue?.path.join('.')}: ${issue?.message}`);
  };
