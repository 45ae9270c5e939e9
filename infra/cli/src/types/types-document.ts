import { collectionText, type Referrer } from './collection-text.ts';
import type { Definition } from './definition.ts';
import { interfaceNames } from './interface-names.ts';
import { routesText } from './routes-text.ts';

const head =
  '// Made by `recordbus types`. Make it again after a change of the schema; `--check` says whether that is needed.';

/** Writes the types of all collections, and of the routes of extensions if there is an API document. */
export function typesDocument(collections: readonly Definition[], api?: Readonly<Record<string, unknown>>): string {
  const sorted = [...collections].sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = interfaceNames(sorted.map(({ name }) => name));
  const referrers = referrersByTarget(sorted);
  const texts = sorted.map((one) =>
    collectionText(one, names.get(one.name) ?? one.name, referrers.get(one.name) ?? []),
  );
  const lines = sorted.map(({ name, type }) => {
    const base = names.get(name);
    const [create, update] = type === 'view' ? ['never', 'never'] : [`${base}Create`, `${base}Update`];
    return `  ${name}: { record: ${base}; create: ${create}; update: ${update}; expand: ${base}Expand };`;
  });
  const schema = `/** The types of all collections, for \`createClient<Schema>\`. */\nexport interface Schema {\n${lines.join('\n')}\n}\n`;
  const routes = api ? routesText(api) : '';
  return [head, ...texts, schema, ...(routes ? [routes] : [])].join('\n\n');
}

function referrersByTarget(collections: readonly Definition[]): ReadonlyMap<string, Referrer[]> {
  const byTarget = new Map<string, Referrer[]>();
  for (const { name: collection, type, fields } of collections)
    for (const field of fields)
      if (type !== 'view' && field.type === 'relation' && field.collection)
        byTarget.set(field.collection, [...(byTarget.get(field.collection) ?? []), { collection, field }]);
  return byTarget;
}
