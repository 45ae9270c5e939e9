import type { Query } from '@recordbus/database';
import { type Collection, identityFieldsOf } from '@recordbus/schema';
import { collectionFamilies, findNamedKey, namedKey, type ProfileMap, settingFamilies } from '@recordbus/settings';
import { findLocaleProblem } from './locale-field.ts';

/**
 * Renames a collection's settings with the collection and its fields, or deletes them with it, in the same
 * transaction. `followInExpressions` renames in expressions. The lock on the version keeps concurrent settings patches out.
 */
export async function followInSettings(query: Query, before: Collection, after: Collection | undefined): Promise<void> {
  if (before.type === 'view') return;
  await query({ text: "select version from system.versions where name = 'settings' for update", values: [] });
  const keys = collectionFamilies.map((family) => namedKey(family, before.name));
  const rows = await query<{ key: string; value: string }>({
    text: 'delete from system.settings where key = any($1::text[]) returning key, value',
    values: [keys],
  });
  if (rows.length === 0) return;
  const kept = after ? rows.flatMap((row) => renameSetting(row, before, after)) : [];
  await query({
    text: `insert into system.settings (key, value, updated_at)
      select key, value, extract(epoch from now())::bigint from unnest($1::text[], $2::text[]) as given (key, value)`,
    values: [kept.map(({ key }) => key), kept.map(({ value }) => value)],
  });
  await query({ text: "update system.versions set version = version + 1 where name = 'settings'", values: [] });
}

interface StoredSetting {
  readonly key: string;
  readonly value: string;
}

function renameSetting({ key, value }: StoredSetting, before: Collection, after: Collection): StoredSetting[] {
  const named = findNamedKey(key);
  if (!named) return [];
  const newKey = namedKey(named.family, after.name);
  const renamed = renameInValue(key, value, before, after);
  return renamed === '' ? [] : [{ key: newKey, value: renamed }];
}

/** Returns a setting's value with the fields' new names; empty when none of them is left. */
function renameInValue(key: string, value: string, before: Collection, after: Collection): string {
  if (key === namedKey('auth.identity.<collection>', before.name)) {
    const names = settingFamilies['auth.identity.<collection>'].schema.safeParse(value).data ?? [];
    const renamed = names.flatMap((name) => newNameOf(name, before, after) ?? []);
    // Without `unique` a field names no account.
    return identityFieldsOf(after, renamed)
      .map(({ name }) => name)
      .join(',');
  }
  if (key === namedKey('mail.locale_field.<collection>', before.name)) {
    const renamed = newNameOf(value, before, after);
    return renamed === undefined || findLocaleProblem(after, renamed) ? '' : renamed;
  }
  if (key !== namedKey('oauth2.profile.<collection>', before.name)) return value;
  const map = settingFamilies['oauth2.profile.<collection>'].schema.safeParse(value);
  const renamed = map.success ? renameFields(map.data, before, after) : {};
  return Object.keys(renamed).length > 0 ? JSON.stringify(renamed) : '';
}

/** Returns a field's new name; undefined for a dropped field. */
function newNameOf(name: string, before: Collection, after: Collection): string | undefined {
  const id = before.fields.find((field) => field.name === name)?.id;
  return after.fields.find((kept) => kept.id === id)?.name;
}

/** Returns the map with the fields' new names, without dropped fields. */
function renameFields(map: ProfileMap, before: Collection, after: Collection): ProfileMap {
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, member]) => {
      const newName = newNameOf(name, before, after);
      return newName === undefined ? [] : [[newName, member]];
    }),
  );
}
