import { AppError } from '@recordbus/errors';
import { type ProviderHere, type TranslatedCollection, translateProvider } from '@recordbus/pocketbase/collections';
import { callApi } from '@recordbus/stack-calls';
import type { Move } from './move-in.ts';
import type { MoveReport } from './report.ts';

const path = '/api/v1/admin/settings';

type Settings = Readonly<Record<string, string>>;

/** A provider's settings in a collection of PocketBase. Without any, its fixed addresses hold. */
export const findProvider = ({ from }: TranslatedCollection, name: string): ProviderHere | undefined =>
  translateProvider(from.options.oauth2?.providers?.find((one) => one.name === name) ?? { name });

/** Sets providers up as in PocketBase, without their secrets, unless this stack has settings for them. */
export async function keepProviders(
  { address, state }: Pick<Move, 'address' | 'state'>,
  collections: readonly TranslatedCollection[],
  { notes }: Pick<MoveReport, 'notes'>,
): Promise<void> {
  for (const collection of collections) {
    const { name, options } = collection.from;
    if (!options.oauth2?.enabled) continue;
    for (const given of options.oauth2.providers ?? []) {
      const key = `provider ${name} ${given.name}`;
      // The settings are this stack's own from the first run on.
      if (state.definitionOf(key) !== undefined) continue;
      const why = await setUp(address, translateProvider(given));
      notes.push(
        why.isDone
          ? { collection: name, kind: 'changed', text: `sign-in with ${given.name} needs its secret: ${why.text}` }
          : { collection: name, kind: 'risk', text: `sign-in with ${given.name} is not set up: ${why.text}` },
      );
      state.noteDefinition(key, given.name);
    }
  }
}

async function setUp(
  address: Move['address'],
  provider: ProviderHere | undefined,
): Promise<{ readonly isDone: boolean; readonly text: string }> {
  if (!provider) return { isDone: false, text: 'there is no such provider here' };
  const { prefix, issuer, others } = provider;
  const current = await readSettings(address);
  const clientId = current[`${prefix}client_id`] ?? '';
  if (clientId !== '' && clientId !== others.client_id)
    return { isDone: false, text: `${prefix}client_id has another value here` };
  const wanted = Object.entries({ ...issuer, ...others }).filter(([, value]) => value !== '');
  try {
    if (clientId === '')
      await callApi(address, 'PATCH', path, Object.fromEntries(wanted.map(([key, value]) => [prefix + key, value])));
    return { isDone: true, text: provider.name === 'apple' ? `${prefix}private_key` : `${prefix}client_secret` };
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return { isDone: false, text: Object.values(error.details ?? {}).join(', ') || error.message };
  }
}

/** Reads the settings that are set. */
export const readSettings = async (address: Move['address']): Promise<Settings> =>
  (await callApi(address, 'GET', path)) as Settings;

/** Whether links are bound to the issuer here that they had in PocketBase. */
export const hasSameIssuer = (settings: Settings, { prefix, issuer }: ProviderHere): boolean =>
  Object.entries(issuer).every(([key, value]) => (settings[prefix + key] ?? '') === value);
