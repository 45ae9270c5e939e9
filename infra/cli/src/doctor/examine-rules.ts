import type { Query } from '@recordbus/database';
import { findOpenRules } from '@recordbus/query';
import { type Collection, fileOptionsOf, loadCollections } from '@recordbus/schema';
import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

const subject = 'rules';

/** Examines whether rules let guests write records or read accounts (collections §3.2), and which files are public. */
export async function examineRules(client: pg.Client): Promise<Finding[]> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const { collections } = await loadCollections(query);
  return [...examineOpenRules(collections), examinePublicFiles(collections)];
}

function examineOpenRules(collections: readonly Collection[]): Finding[] {
  const schema = { findCollection: (name: string) => collections.find((collection) => collection.name === name) };
  const open = collections.flatMap((collection) => {
    const rules = findOpenRules(collection, schema).map(({ name }) => `${name}_rule`);
    return rules.length > 0 ? [`${collection.name} (${rules.join(', ')})`] : [];
  });
  if (open.length === 0) return [fine(subject, 'no collection lets guests write records or read accounts')];
  return [
    warning(
      subject,
      `guests may write records or read accounts: ${open.join('; ')}`,
      'If that is not intended, give these rules an expression, or "" for admins only.',
    ),
  ];
}

/** Names the file fields whose files no rule protects (files §7.6). They are meant to be open, so this is not a warning. */
function examinePublicFiles(collections: readonly Collection[]): Finding {
  const names = collections.flatMap(({ name, fields }) =>
    fields
      .filter((field) => field.type === 'file' && fileOptionsOf(field).public)
      .map((field) => `${name}.${field.name}`),
  );
  return fine(
    'public files',
    names.length === 0
      ? 'no file field is public'
      : `everyone with a file's address may download it, whatever the rules: ${names.join(', ')}`,
  );
}
