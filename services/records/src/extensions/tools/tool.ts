import type { ExtensionWorker } from '@recordbus/extension-host';
import { describeIssues } from '@recordbus/shared/describe-issues';
import { malformed } from '@recordbus/shared/errors';
import type { z } from 'zod';
import type { CallScope } from '../call-scope.ts';

/** A call of an extension that asks for something. */
export interface AskingCall {
  readonly extension: string;
  readonly scope: CallScope;
  readonly worker: ExtensionWorker;
  /** `<tool>.<function>`. */
  readonly method: string;
}

/** A function that code of extensions can call. */
export type Tool = (call: AskingCall, args: readonly unknown[]) => Promise<unknown>;

/** Makes a tool of a function and the schema of its arguments, which come from code that is not ours. */
export const tool =
  <S extends z.ZodType<unknown[]>>(schema: S, work: (call: AskingCall, args: z.output<S>) => Promise<unknown>): Tool =>
  async (call, args) => {
    const result = schema.safeParse(args);
    if (result.success) return work(call, result.data);
    const [[path = '', problem] = []] = Object.entries(describeIssues(result.error, args));
    throw malformed(`${call.method}: argument ${asWritten(call.method, path)} ${problem}`);
  };

/** The place of an argument as code counts them: functions of `records` are handed whom they are for before the first. */
function asWritten(method: string, path: string): string {
  const [index, ...members] = path.split('.');
  const place = Number(index) + (method.startsWith('records.') ? 0 : 1);
  return members.length > 0 ? `${place}, ${members.join('.')}:` : `${place}:`;
}
