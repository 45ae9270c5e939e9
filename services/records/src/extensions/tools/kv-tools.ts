import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { AppError, validationFailed } from '@recordbus/shared/errors';
import { z } from 'zod';
import { type Tool, type ToolCall, tool } from './tool.ts';

const maxKeyLength = 255;
const maxValueBytes = 64 * 1024;
const maxListed = 1000;

const key = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(maxKeyLength, `may have at most ${maxKeyLength} characters`)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must be text');
const ttlSec = z.number().positive().max(315_360_000).optional();
const value = z.string();

/**
 * The problem of a value that the database refuses; undefined for other errors. Fresh JSON text has no other problems.
 */
function findValueProblem(error: unknown): string | undefined {
  if (isDatabaseError(error, sqlState.untranslatableCharacter, sqlState.invalidText))
    return 'must not contain NUL or half a surrogate pair';
  return isDatabaseError(error, sqlState.numberOutOfRange) ? 'would be too large' : undefined;
}

/** Expired values count as absent. The next write of the key, or the housekeeping, removes them. */
const isAlive = '(expires_at is null or expires_at > now())';

/** The key-value tools: small durable values of each extension (system.extension_values). */
export function kvTools(database: Query): Readonly<Record<string, Tool>> {
  /** Runs in the transaction of the call, so a write that fails leaves no value. */
  const on = async <T>({ scope }: ToolCall, work: (query: Query) => Promise<T>): Promise<T> => {
    try {
      return await (scope.transaction ? scope.transaction.part(({ query }) => work(query)) : work(database));
    } catch (error) {
      const problem = findValueProblem(error);
      throw problem ? validationFailed({ value: problem }) : error;
    }
  };

  const set = (call: ToolCall, name: string, json: string, seconds: number | undefined, onlyIfAbsent: boolean) => {
    if (Buffer.byteLength(json) > maxValueBytes)
      throw validationFailed({ value: `may have at most ${maxValueBytes} bytes` });
    return on(call, (query) =>
      query({
        text: `insert into system.extension_values as v (extension, key, value, expires_at)
          values ($1, $2, $3, now() + make_interval(secs => $4))
          on conflict (extension, key) do update set value = excluded.value, expires_at = excluded.expires_at
          ${onlyIfAbsent ? 'where v.expires_at <= now()' : ''} returning 1`,
        values: [call.extension, name, json, seconds ?? null],
      }),
    );
  };

  return {
    'kv.get': tool(z.tuple([key]), (call, [name]) =>
      on(call, async (query) => {
        const [row] = await query<{ value: string }>({
          text: `select value::text as value from system.extension_values where extension = $1 and key = $2 and ${isAlive}`,
          values: [call.extension, name],
        });
        return row?.value;
      }),
    ),
    'kv.set': tool(z.tuple([key, value, ttlSec]), async (call, [name, json, seconds]) => {
      await set(call, name, json, seconds, false);
    }),
    'kv.setIfAbsent': tool(z.tuple([key, value, ttlSec]), async (call, [name, json, seconds]) => {
      const rows = await set(call, name, json, seconds, true);
      return rows.length > 0;
    }),
    'kv.increment': tool(z.tuple([key, z.number('must be a number')]), (call, [name, by]) =>
      on(call, async (query) => {
        const [row] = await query<{ sum: number | null }>({
          text: `insert into system.extension_values as v (extension, key, value) values ($1, $2, to_jsonb($3::double precision))
            on conflict (extension, key) do update set
              value = case when ${isAlive.replaceAll('expires_at', 'v.expires_at')}
                then to_jsonb((v.value)::text::double precision + $3) else excluded.value end,
              expires_at = case when v.expires_at > now() then v.expires_at end
            where jsonb_typeof(v.value) = 'number' or v.expires_at <= now()
            returning value::text::double precision as sum`,
          values: [call.extension, name, by],
        });
        if (!row) throw new AppError(422, 'not_a_number', `the value of ${name} is not a number`);
        return row.sum;
      }),
    ),
    'kv.delete': tool(z.tuple([key]), async (call, [name]) => {
      await on(call, (query) =>
        query({
          text: 'delete from system.extension_values where extension = $1 and key = $2',
          values: [call.extension, name],
        }),
      );
    }),
    'kv.list': tool(z.tuple([z.string().max(maxKeyLength)]), (call, [prefix]) =>
      on(call, async (query) => {
        const [row] = await query<{ list: string }>({
          text: `select coalesce(json_agg(json_build_object('key', key, 'value', value) order by key), '[]')::text as list
            from (select key, value from system.extension_values
              where extension = $1 and starts_with(key, $2) and ${isAlive} order by key limit ${maxListed}) v`,
          values: [call.extension, prefix],
        });
        return row?.list ?? '[]';
      }),
    ),
  };
}

/** Removes expired values. */
export const removeExpiredValues = async (query: Query): Promise<void> => {
  await query({ text: 'delete from system.extension_values where expires_at <= now()', values: [] });
};
