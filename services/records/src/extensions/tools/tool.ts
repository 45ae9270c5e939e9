import { malformed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import type { ExtensionWorker } from '@recordbus/extension-host';
import type { z } from 'zod';
import type { CallScope } from '../call-scope.ts';

/** A tool call by an extension's code. */
export interface ToolCall {
  readonly extension: string;
  readonly scope: CallScope;
  readonly worker: ExtensionWorker;
  /** `<tool>.<function>`. */
  readonly method: string;
}

/** A function that extensions' code can call. */
export type Tool = (call: ToolCall, args: readonly unknown[]) => Promise<unknown>;

/** Creates a tool from a function and its arguments' schema, which extensions' code sends. */
export const tool =
  <S extends z.ZodType<unknown[]>>(schema: S, work: (call: ToolCall, args: z.output<S>) => Promise<unknown>): Tool =>
  async (call, args) => {
    const result = schema.safeParse(args);
    if (result.success) return work(call, result.data);
    const [[path = '', problem] = []] = Object.entries(describeIssues(result.error, args));
    throw malformed(`${call.method}: argument ${argumentOf(call.method, path)} ${problem}`);
  };

/** The argument, numbered as in code: functions in `records` get the acting caller before the first argument. */
function argumentOf(method: string, path: string): string {
  const [index, ...members] = path.split('.');
  const place = Number(index) + (method.startsWith('records.') ? 0 : 1);
  return members.length > 0 ? `${place}, ${members.join('.')}:` : `${place}:`;
}
