import type { Bus } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import type { Database, Query } from '@recordbus/database';
import { isSettingKey, type SettingKey } from './registry/index.ts';
import { isSecretKey } from './registry/setting.ts';
import type { SettingsPatch } from './settings-patch.ts';

/** The rows of system.settings and the version that they are of. */
interface StoredSettings {
  readonly version: number;
  readonly texts: ReadonlyMap<string, string>;
}

/** The version of what is stored now; it grows with every change. */
export async function readSettingsVersion(query: Query): Promise<number> {
  const [row] = await query<{ version: number }>({
    name: 'settings-version',
    text: "select version from system.versions where name = 'settings'",
    values: [],
  });
  return row?.version ?? 0;
}

/** Rows and version in one statement, so that they are of one moment. */
export async function readSettings(query: Query): Promise<StoredSettings> {
  const [row] = await query<{ version: number; texts: Record<string, string> }>({
    name: 'settings-load',
    text: `select version, (select coalesce(json_object_agg(key, value), '{}') from system.settings) as texts
           from system.versions where name = 'settings'`,
    values: [],
  });
  return { version: row?.version ?? 0, texts: new Map(Object.entries(row?.texts ?? {})) };
}

export interface PatchDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly envelope: Envelope;
}

/**
 * Stores a patch that `settingsPatch` has let through, all of it or nothing, and tells every replica.
 * Secrets are sealed when there is a key. Gives the keys that the patch names. What is to be committed with it, or not at
 * all, is done by `alongside`.
 */
export async function patchSettings(
  { database, bus, envelope }: PatchDeps,
  patch: SettingsPatch,
  alongside: (query: Query, keys: readonly SettingKey[]) => Promise<void> = async () => {},
): Promise<SettingKey[]> {
  const entries = Object.entries(patch).filter((entry): entry is [SettingKey, string] => {
    const [key, text] = entry;
    return isSettingKey(key) && text !== undefined;
  });
  if (entries.length === 0) return [];
  const kept = entries.filter(([, text]) => text !== '');
  const sealed = kept.map(([key, text]) => [key, isSecretKey(key) ? envelope.seal(text) : text] as const);
  await database.transaction(async (query) => {
    // The version's row lock puts concurrent patches in order, so versions are committed as they were drawn.
    await query({ text: "update system.versions set version = version + 1 where name = 'settings'", values: [] });
    await query({
      text: 'delete from system.settings where key = any($1::text[])',
      values: [entries.filter(([, text]) => text === '').map(([key]) => key)],
    });
    await query({
      text: `insert into system.settings (key, value, updated_at)
             select key, value, extract(epoch from now())::bigint from unnest($1::text[], $2::text[]) as given (key, value)
             on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`,
      values: [sealed.map(([key]) => key), sealed.map(([, text]) => text)],
    });
    await alongside(
      query,
      entries.map(([key]) => key),
    );
  });
  bus.notify('settings');
  if (!envelope.isSealing) for (const [key] of kept) if (isSecretKey(key)) warnOfPlainText(key);
  return entries.map(([key]) => key);
}

const warnedOf = new Set<SettingKey>();

/** Once per key and process, on stderr (interface §2.7, at-rest encryption). */
function warnOfPlainText(key: SettingKey): void {
  if (warnedOf.has(key)) return;
  warnedOf.add(key);
  process.stderr.write(`Warning: SERVICE_ENCRYPTION_KEY is not set, so the setting ${key} is stored in plain text.\n`);
}
