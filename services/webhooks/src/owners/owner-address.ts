import { findLanguage } from '@recordbus/mail';
import { compileAddress, createParameters, QueryError } from '@recordbus/query';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import type { OwnersDeps } from '@recordbus/webhook-owners';

export type AddressDeps = Pick<OwnersDeps, 'query' | 'settings'> & {
  readonly collections: Pick<OwnersDeps['collections'], 'all' | 'find'>;
};

/** Where mails about an owner's webhooks go. */
export interface OwnerAddress {
  readonly to: string;
  /** The name of the owner's collection. */
  readonly collection: string;
  /** An account's language (mail §2.7). */
  readonly lang: string | undefined;
}

/**
 * Finds the address of a record that owns webhooks: an account's own, once it is verified, otherwise the one that the
 * setting's `mail` leads to (webhooks §6.5). Undefined for none, also if the path leads nowhere any longer.
 */
export async function findOwnerAddress(
  { query, collections, settings }: AddressDeps,
  { collectionId, id }: { readonly collectionId: string; readonly id: string },
): Promise<OwnerAddress | undefined> {
  const collection = collections.all().find((one) => one.id === collectionId);
  const owners = collection && settings.getNamed('webhooks.owners.<collection>', collection.name);
  const path = collection?.type === 'auth' ? 'email' : owners?.mail;
  if (!collection || !owners || !path) return undefined;
  const statement = compileSelect(path, id, collection, { findCollection: collections.find, settings });
  const [row] = statement ? await query<{ to: string | null; record: Record<string, unknown> }>(statement) : [];
  if (!row?.to) return undefined;
  return { to: row.to, collection: collection.name, lang: findLanguage(settings, collection.name, row.record) };
}

function compileSelect(
  path: string,
  id: string,
  collection: Collection,
  {
    findCollection,
    settings,
  }: { readonly findCollection: OwnersDeps['collections']['find']; readonly settings: AddressDeps['settings'] },
) {
  const parameters = createParameters();
  const into = { row: 'owner', parameters, isTable: true };
  try {
    const { joins, sql } = compileAddress(path, { collection, schema: { findCollection } }, into);
    const locale = collection.fields.find(
      ({ name }) => name === settings.getNamed('mail.locale_field.<collection>', collection.name),
    );
    const record = locale ? `json_build_object('${locale.name}', owner.${quoteIdentifier(locale.name)})` : "'{}'::json";
    const text = `select ${sql} as "to", ${record} as record from ${tableOf(collection)} owner ${joins} where owner.id = ${parameters.fixed(id, 'text')}`;
    return { text, values: parameters.values() };
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
