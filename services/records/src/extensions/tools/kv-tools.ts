import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { z } from 'zod';
import { deleteValue, findValue, findValueProblem, incrementValue, listValues, setValue } from './extension-values.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { plainText } from './tool-arguments.ts';

const maxKeyLength = 255;
const maxValueBytes = 64 * 1024;

const keyText = plainText(maxKeyLength);
const lifetimeSec = z.number().positive().max(315_360_000).optional();
const keyAlone = z.tuple([keyText]);
const newValue = z.tuple([keyText, z.string(), lifetimeSec]);

/** The key-value tools: each extension's small durable values (system.extension_values). */
export function kvTools(database: Query): Readonly<Record<string, Tool>> {
  /** Runs in the call's transaction, so a write that fails leaves no value. */
  const on = async <T>({ scope }: ToolCall, work: (query: Query) => Promise<T>): Promise<T> => {
    try {
      return await (scope.transaction ? scope.transaction.part(({ query }) => work(query)) : work(database));
    } catch (error) {
      const problem = findValueProblem(error);
      throw problem ? validationFailed({ value: problem }) : error;
    }
  };
  const set = async (call: ToolCall, [key, json, ttlSec]: z.output<typeof newValue>, onlyIfAbsent: boolean) => {
    if (Buffer.byteLength(json) > maxValueBytes)
      throw validationFailed({ value: `may have at most ${maxValueBytes} bytes` });
    return on(call, (query) => setValue(query, { ...call, key }, { json, ttlSec }, { onlyIfAbsent }));
  };

  return {
    'kv.get': tool(keyAlone, (call, [key]) => on(call, (query) => findValue(query, { ...call, key }))),
    'kv.set': tool(newValue, async (call, args) => {
      await set(call, args, false);
    }),
    'kv.setIfAbsent': tool(newValue, (call, args) => set(call, args, true)),
    'kv.increment': tool(z.tuple([keyText, z.number('must be a number')]), (call, [key, by]) =>
      on(call, (query) => incrementValue(query, { ...call, key }, by)),
    ),
    'kv.delete': tool(keyAlone, (call, [key]) => on(call, (query) => deleteValue(query, { ...call, key }))),
    'kv.list': tool(z.tuple([z.string().max(maxKeyLength)]), (call, [prefix]) =>
      on(call, (query) => listValues(query, call.extension, prefix)),
    ),
  };
}
