import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { AppError } from '@recordbus/errors';

/** The name of an extension's small durable value (system.extension_values). */
interface ValueName {
  readonly extension: string;
  readonly key: string;
}

interface NewValue {
  /** JSON text. */
  readonly json: string;
  /** How long the value is kept, in seconds; undefined for no limit. */
  readonly ttlSec: number | undefined;
}

const maxListed = 1000;

/** Expired values count as absent. The key's next write, or the housekeeping, removes them. */
const isAlive = '(expires_at is null or expires_at > now())';

/** Finds a value, as JSON text. */
export async function findValue(query: Query, { extension, key }: ValueName): Promise<string | undefined> {
  const [row] = await query<{ value: string }>({
    text: `select value::text as value from system.extension_values where extension = $1 and key = $2 and ${isAlive}`,
    values: [extension, key],
  });
  return row?.value;
}

/** Sets a value, with `onlyIfAbsent` only if there is none. Returns whether it was set. */
export async function setValue(
  query: Query,
  { extension, key }: ValueName,
  { json, ttlSec }: NewValue,
  { onlyIfAbsent }: { readonly onlyIfAbsent: boolean },
): Promise<boolean> {
  const rows = await query({
    text: `insert into system.extension_values as v (extension, key, value, expires_at)
      values ($1, $2, $3, now() + make_interval(secs => $4))
      on conflict (extension, key) do update set value = excluded.value, expires_at = excluded.expires_at
      ${onlyIfAbsent ? 'where v.expires_at <= now()' : ''} returning 1`,
    values: [extension, key, json, ttlSec ?? null],
  });
  return rows.length > 0;
}

/** Adds to a number, which starts at 0. Returns the sum. Throws 422 if the value is not a number. */
export async function incrementValue(query: Query, { extension, key }: ValueName, by: number): Promise<number | null> {
  const [row] = await query<{ sum: number | null }>({
    text: `insert into system.extension_values as v (extension, key, value)
      values ($1, $2, to_jsonb($3::double precision))
      on conflict (extension, key) do update set
        value = case when ${isAlive.replaceAll('expires_at', 'v.expires_at')}
          then to_jsonb((v.value)::text::double precision + $3) else excluded.value end,
        expires_at = case when v.expires_at > now() then v.expires_at end
      where jsonb_typeof(v.value) = 'number' or v.expires_at <= now()
      returning value::text::double precision as sum`,
    values: [extension, key, by],
  });
  if (!row) throw new AppError(422, 'not_a_number', `the value at ${key} is not a number`);
  return row.sum;
}

/** Deletes a value, if there is one. */
export async function deleteValue(query: Query, { extension, key }: ValueName): Promise<void> {
  await query({
    text: 'delete from system.extension_values where extension = $1 and key = $2',
    values: [extension, key],
  });
}

/** Lists the values whose keys begin with `prefix`, by key, as JSON text. */
export async function listValues(query: Query, extension: string, prefix: string): Promise<string> {
  const [row] = await query<{ list: string }>({
    text: `select coalesce(json_agg(json_build_object('key', key, 'value', value) order by key), '[]')::text as list
      from (select key, value from system.extension_values
        where extension = $1 and starts_with(key, $2) and ${isAlive} order by key limit ${maxListed}) v`,
    values: [extension, prefix],
  });
  return row?.list ?? '[]';
}

/** Removes expired values. */
export async function removeExpiredValues(query: Query): Promise<void> {
  await query({ text: 'delete from system.extension_values where expires_at <= now()', values: [] });
}

/** Why the database refuses a value; undefined for other errors. New JSON text can have no other problems. */
export function findValueProblem(error: unknown): string | undefined {
  if (isDatabaseError(error, sqlState.untranslatableCharacter, sqlState.invalidText))
    return 'must not contain NUL or half a surrogate pair';
  return isDatabaseError(error, sqlState.numberOutOfRange) ? 'would be too large' : undefined;
}
