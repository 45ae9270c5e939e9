import { AppError } from '@recordbus/errors';
import type { TranslatedCollection } from '@recordbus/pocketbase/collections';
import { callApi } from '@recordbus/stack-calls';
import type { Move } from './move-in.ts';
import type { MoveReport } from './report.ts';

/** Lets users sign in by the fields that identified them in PocketBase, once a collection is taken. */
export async function keepIdentities(
  { address, prepared, state }: Pick<Move, 'address' | 'prepared' | 'state'>,
  collections: readonly TranslatedCollection[],
  { notes }: Pick<MoveReport, 'notes'>,
): Promise<void> {
  for (const { from, to } of collections) {
    const { enabled, identityFields = [] } = from.options.passwordAuth ?? {};
    const fields = identityFields
      .filter((name) => name !== 'email')
      .map((name) => prepared.directory.fieldNameOf(from, name));
    if (from.type !== 'auth' || !enabled || fields.length === 0) continue;
    const key = `auth.identity.${to.name}`;
    // The setting is this stack's own from now on.
    if (state.definitionOf(key) !== undefined) continue;
    try {
      await callApi(address, 'PATCH', '/api/v1/admin/settings', { [key]: fields.join(',') });
      notes.push({ collection: from.name, kind: 'changed', text: `users sign in by ${fields.join(', ')}: ${key}` });
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      const why = String(error.details?.[key] ?? error.message);
      notes.push({ collection: from.name, kind: 'risk', text: `users do not sign in by ${fields.join(', ')}: ${why}` });
    }
    state.noteDefinition(key, fields.join(','));
  }
}
