import type { Bus } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database, Query } from '@recordbus/database';
import { effectiveSettings } from './effective-settings.ts';
import { isSecretKey } from './registry/families.ts';
import { defaultTextOf, isStateKey, type SettingsPatch } from './settings-patch.ts';

/** The rows in system.settings with their version. */
interface StoredSettings {
  readonly version: number;
  readonly texts: ReadonlyMap<string, string>;
}

/** Reads the current version, which increases with every change. */
export async function readSettingsVersion(query: Query): Promise<number> {
  const [row] = await query<{ version: number }>({
    name: 'settings-version',
    text: "select version from system.versions where name = 'settings'",
    values: [],
  });
  return row?.version ?? 0;
}

/** Reads rows and version in one statement, so that they are consistent. */
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
  readonly cipher: ValueCipher;
}

/**
 * Stores a validated patch, all or nothing, and notifies every replica. Encrypts secrets when there is a key. Runs
 * `alongside` in the same transaction. Returns the patch's keys.
 */
export async function patchSettings(
  { database, bus, cipher }: PatchDeps,
  patch: SettingsPatch,
  alongside: (query: Query, keys: readonly string[]) => Promise<void> = async () => {},
): Promise<string[]> {
  const keys = Object.keys(patch);
  if (keys.length === 0) return [];
  await database.transaction(async (query) => {
    await storePatch(query, cipher, patch);
    await alongside(query, keys);
  });
  bus.notify('settings');
  warnOfPlainTexts(cipher, patch);
  return keys;
}

/** Stores a validated patch within a transaction. */
export async function storePatch(query: Query, cipher: ValueCipher, patch: SettingsPatch): Promise<void> {
  const entries = Object.entries(patch);
  const kept = entries.filter(([, text]) => text !== '');
  const sealed = kept.map(([key, text]) => [key, isSecretKey(key) ? cipher.encrypt(text) : text] as const);
  // The row lock on the version serializes concurrent patches, so versions commit in order.
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
}

/** Warns about each secret in a stored patch that is not encrypted. */
export function warnOfPlainTexts(cipher: ValueCipher, patch: SettingsPatch): void {
  if (cipher.isEncrypting) return;
  for (const [key, text] of Object.entries(patch)) if (text !== '' && isSecretKey(key)) warnOfPlainText(key);
}

/** The settings that differ from their defaults, secrets decrypted. */
export interface ChangedSettings {
  readonly texts: Readonly<Record<string, string>>;
  /** Secrets that cannot be decrypted. */
  readonly unreadable: ReadonlySet<string>;
}

/** Reads the settings that differ from their defaults, sorted by key, without those that the product writes. */
export async function readChangedSettings(query: Query, cipher: ValueCipher): Promise<ChangedSettings> {
  const { texts: stored } = await readSettings(query);
  const { texts, unreadable } = effectiveSettings(stored, cipher);
  const changed = Object.entries(texts).filter(
    ([key, text]) => text !== '' && text !== defaultTextOf(key) && !isStateKey(key),
  );
  return { texts: Object.fromEntries(changed.sort(([a], [b]) => (a < b ? -1 : 1))), unreadable };
}

const warnedOf = new Set<string>();

/** Warns on stderr, once per key and process (settings §4.2). */
function warnOfPlainText(key: string): void {
  if (warnedOf.has(key)) return;
  warnedOf.add(key);
  process.stderr.write(`Warning: SERVICE_ENCRYPTION_KEY is not set, so the setting ${key} is stored in plain text.\n`);
}
