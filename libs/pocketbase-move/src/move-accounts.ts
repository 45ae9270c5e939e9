import { AppError } from '@recordbus/errors';
import { mailsFactors, type TranslatedCollection, waysIn } from '@recordbus/pocketbase/collections';
import { callApi } from '@recordbus/stack-calls';
import type { Move } from './move-in.ts';
import type { MoveReport } from './report.ts';

type Parts = Pick<Move, 'address' | 'prepared' | 'state'>;

/**
 * Lets users sign in as in PocketBase, once a collection is taken: in the same ways, by the same fields, with a second
 * factor.
 */
export async function keepSignIn(
  move: Parts,
  collections: readonly TranslatedCollection[],
  report: Pick<MoveReport, 'notes'>,
): Promise<void> {
  await keepIdentities(move, collections, report);
  for (const { from, to } of collections) {
    if (from.type !== 'auth') continue;
    const ways = waysIn(from.options);
    if (ways !== undefined)
      await keep(move, from.name, report, {
        key: `auth.methods.${to.name}`,
        value: ways,
        done: 'users sign in only as in PocketBase, or with a passkey that they add',
        failed: 'users sign in in every way',
      });
    if (mailsFactors(from.options))
      await keep(move, from.name, report, {
        key: `auth.mfa.email.${to.name}`,
        value: '1',
        done: 'the second factor is a mailed code, so sign-ins need mail',
        failed: 'a second factor was required, and is not here',
      });
  }
}

/** Sets a setting once, and notes it: it is this stack's own from then on. */
async function keep(
  { address, state }: Parts,
  collection: string,
  { notes }: Pick<MoveReport, 'notes'>,
  {
    key,
    value,
    done,
    failed,
  }: { readonly key: string; readonly value: string; readonly done: string; readonly failed: string },
): Promise<void> {
  if (state.definitionOf(key) !== undefined) return;
  try {
    await callApi(address, 'PATCH', '/api/v1/admin/settings', { [key]: value });
    notes.push({ collection, kind: 'changed', text: `${done}: ${key} is ${value}` });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    notes.push({ collection, kind: 'risk', text: `${failed}: ${String(error.details?.[key] ?? error.message)}` });
  }
  state.noteDefinition(key, value);
}

async function keepIdentities(
  { address, prepared, state }: Parts,
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
