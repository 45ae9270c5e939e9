import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { collectionFamilies, namedKey, type ProfileMap, settingFamilies } from '@recordbus/settings';

const profileKey = (name: string): string => namedKey('oauth2.profile.<collection>', name);

/**
 * Renames an auth collection's settings with the collection and its fields, or deletes them with it, in the same
 * transaction. The lock on the version keeps concurrent settings patches out.
 */
export async function followInSettings(query: Query, before: Collection, after: Collection | undefined): Promise<void> {
  if (before.type !== 'auth') return;
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
  const newKey = `${key.slice(0, key.length - before.name.length)}${after.name}`;
  if (key !== profileKey(before.name)) return [{ key: newKey, value }];
  const map = settingFamilies['oauth2.profile.<collection>'].schema.safeParse(value);
  const renamed = map.success ? renameFields(map.data, before, after) : {};
  return Object.keys(renamed).length > 0 ? [{ key: newKey, value: JSON.stringify(renamed) }] : [];
}

/** Returns the map with the fields' new names, without dropped fields. */
function renameFields(map: ProfileMap, before: Collection, after: Collection): ProfileMap {
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, member]) => {
      const id = before.fields.find((field) => field.name === name)?.id;
      const field = after.fields.find((kept) => kept.id === id);
      return field ? [[field.name, member]] : [];
    }),
  );
}
